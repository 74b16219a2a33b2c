import Foundation
import PushHTTP
import PushSupport

/// The values that a form began with, in its hidden field `was`, so that only what was changed in the form is sent.
///
/// What somebody else changed in the meantime in other fields stays as it is.
enum InitialFormValues {
    private static let field = "was"

    /// Returns the value of the hidden field; a form that is shown again keeps the first one.
    ///
    /// - Parameter members: The stored values by the members of the API.
    static func value(_ members: [String: JSONValue], _ request: PageRequest) -> String {
        request.form[Self.field] ?? JSONValue.object(members).line
    }

    /// Returns the members that differ from those that the form began with; all without the hidden field.
    static func changes(_ members: [String: JSONValue], _ form: FormData) -> [String: JSONValue] {
        guard let text = form[Self.field], let json = try? JSONValue(parsing: Data(text.utf8)),
            case .object(let old) = json
        else { return members }
        return members.filter { $0.value != old[$0.key] ?? .null }
    }
}
