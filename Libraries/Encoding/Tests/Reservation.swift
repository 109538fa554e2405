import Encoding

/// A reservation of a table, as an app sends it: as JSON, or as an HTML form with the same names.
struct Reservation {
    var guests: Int64
    var time: Timestamp

    /// - Returns: `nil` if a field is missing or is not of its type
    init?(_ body: [UInt8], isForm: Bool) throws {
        let fields = isForm ? try JSON(form: body)["table"] : try JSON(utf8: body)["table"]
        // A form has texts only, and older apps send numbers as texts in JSON, too.
        let digits: String? =
            switch fields?["guests"] {
            case .number(let text), .string(let text): text
            case .null, .bool, .array, .object, nil: nil
            }
        guard let guests = digits.flatMap(Int64.init(parsing:)), case .string(let text)? = fields?["time"],
            let time = Timestamp(rfc3339: text)
        else { return nil }
        (self.guests, self.time) = (guests, time)
    }

    var json: JSON { ["guests": JSON(guests), "time": .string(time.description)] }
}
