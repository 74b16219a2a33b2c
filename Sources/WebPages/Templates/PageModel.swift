package import PushSupport

/// The values of a template by name: texts, numbers, flags, lists and objects, made by ``PageValue``.
package typealias PageModel = [String: Any]

/// The conversion of JSON into values that templates show.
///
/// The responses of the API go into pages in this form, so that a page has the API's own names.
package enum PageValue {
    /// Returns the value for a template; `nil` for `null`, which is an empty section.
    package static func of(_ json: JSONValue?) -> Any? {
        switch json {
        case nil, .null: nil
        case .bool(let flag): flag
        case .integer(let number): PageNumber(value: Double(number))
        case .number(let number): PageNumber(value: number)
        case .string(let text): PageText(text)
        case .array(let values): values.compactMap(Self.of)
        case .object(let members): Self.model(members)
        }
    }

    /// Returns the values of an object's members.
    package static func model(_ members: [String: JSONValue]) -> PageModel {
        members.compactMapValues(Self.of)
    }
}
