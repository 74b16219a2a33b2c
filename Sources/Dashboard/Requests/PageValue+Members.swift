import PushSupport
import WebPages

extension PageValue {
    /// Returns the values of a JSON object's members; none for any other value.
    static func members(_ json: JSONValue) -> PageModel {
        if case .object(let members) = json { Self.model(members) } else { [:] }
    }
}

extension JSONValue {
    /// Indicates whether it is `true`, and no other value.
    var isTrue: Bool { self == .bool(true) }
}
