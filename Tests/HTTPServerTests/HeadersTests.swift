import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct `Reading a header field` {
    private static let name = HTTPField.Name.ifNoneMatch

    @Test(arguments: [[], ["\"1\""], ["\"1\"", "\"2\""], [""], ["", "\"2\""]])
    func `a field has the library's value, however often it is sent`(values: [String]) {
        var fields: HTTPFields = [.accept: "*/*"]
        for value in values { fields.append(HTTPField(name: Self.name, value: value)) }
        fields.append(HTTPField(name: .userAgent, value: "a phone"))
        #expect(fields.value(of: Self.name) == fields[Self.name])
    }
}
