public import Encoding

/// A validation error: a field of a request that cannot be used.
///
/// Not `ValidationError`, which is a type of ArgumentParser.
public struct FieldError: Sendable, Hashable {
    /// The reason, for programs. The raw values are stable.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case blank
        case notANumber = "not_a_number"
        case notAWholeNumber = "not_a_whole_number"
        case notAText = "not_a_text"
        case notATime = "not_a_time"
        case notACursor = "not_a_cursor"
        case notABox = "not_a_box"
        case notATimeZone = "not_a_time_zone"
        case notALink = "not_a_link"
        case outOfRange = "out_of_range"
        case notABoolean = "not_a_boolean"
        case notAnEmailAddress = "not_an_email_address"
        case tooShort = "too_short"
        case tooLong = "too_long"
        case tooMany = "too_many"
        case taken
        case invalidCharacters = "invalid_characters"
        case alreadyUsed = "already_used"
        case incorrect
        case unknown
        case notAllowed = "not_allowed"
        case notAChoice = "not_a_choice"
    }

    /// The place of the field as a JSON Pointer (RFC 6901) into the body, the form or the query, as in `/started_at`.
    public var pointer: String
    public var code: Code
    /// The sentence for people. The plain body of the v1 API has only this.
    public var detail: String

    /// - Parameters:
    ///   - name: the name of the field, as in `started_at`
    ///   - words: the sentence without its subject, as in `can't be blank`; the name is the subject
    ///   - pointer: `nil` for a field at the top
    public init(_ name: String, _ code: Code, _ words: String, at pointer: String? = nil) {
        self.pointer = pointer ?? "/\(name)"
        self.code = code
        detail = "\(name.prefix(1).uppercased())\(name.dropFirst().replacing("_", with: " ")) \(words)"
    }
}

extension FieldError {
    public static func blank(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .blank, "can't be blank", at: pointer)
    }

    public static func notANumber(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .notANumber, "is not a number", at: pointer)
    }

    public static func notAWholeNumber(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .notAWholeNumber, "is not a whole number", at: pointer)
    }

    public static func notAText(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .notAText, "is not a text", at: pointer)
    }

    public static func notATime(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .notATime, "is not a valid time", at: pointer)
    }

    public static func notACursor(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .notACursor, "is not a valid cursor", at: pointer)
    }

    public static func notAChoice(_ name: String, _ choices: [String], at pointer: String? = nil) -> FieldError {
        FieldError(name, .notAChoice, "must be one of: \(choices.joined(separator: ", "))", at: pointer)
    }

    /// - Parameter name: any text that a client sent
    public static func unknown(_ name: String) -> FieldError {
        let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
        return FieldError(name, .unknown, "is not a field that can be changed", at: "/\(escaped)")
    }

    /// PostgreSQL cannot store the character.
    public static func nullCharacter(_ name: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .invalidCharacters, "contains a null character", at: pointer)
    }

    /// - Parameter range: its ends are whole numbers
    public static func outOfRange(_ name: String, _ range: ClosedRange<Double>, at pointer: String? = nil) -> FieldError {
        let words = "must be between \(Int(range.lowerBound)) and \(Int(range.upperBound))"
        return FieldError(name, .outOfRange, words, at: pointer)
    }

    /// - Parameter unit: a plural, as in `characters`
    public static func tooLong(_ name: String, maximum: Int, _ unit: String, at pointer: String? = nil) -> FieldError {
        FieldError(name, .tooLong, "is too long (maximum is \(maximum) \(unit))", at: pointer)
    }
}

extension [FieldError] {
    /// Reads a text, and adds its validation errors.
    /// - Parameters:
    ///   - limit: the largest number of Unicode scalars
    ///   - isRequired: whether a field that is missing, null or blank is an error
    /// - Returns: `nil` also for a field that is missing, null or blank
    public mutating func text(
        _ field: JSON?, _ name: String, limit: Int, isRequired: Bool = false, at pointer: String
    ) -> String? {
        switch field {
        case .string(let text) where !text.isBlank:
            if text.unicodeScalars.count > limit { append(.tooLong(name, maximum: limit, "characters", at: pointer)) }
            if text.utf8.contains(0) { append(.nullCharacter(name, at: pointer)) }
            return text
        case nil, .null, .string: if isRequired { append(.blank(name, at: pointer)) }
        case .bool, .number, .array, .object: append(.notAText(name, at: pointer))
        }
        return nil
    }
}
