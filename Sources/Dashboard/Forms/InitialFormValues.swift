import Foundation
import PushHTTP
import PushSupport

/// The initial values of a form, which its hidden field `was` contains. Only members that were changed in the form are
/// sent to the API. Thus, a change that another person has made to other members in the meantime is not reverted.
enum InitialFormValues {
    private static let field = "was"

    /// Returns the value of the hidden field. If the form is shown again after an error, the value stays the same.
    /// - Parameter members: The stored values, by the names of the API members.
    static func value(_ members: [String: JSONValue], _ request: PageRequest) -> String {
        request.form[Self.field] ?? JSONValue.object(members).line
    }

    /// Returns those of the entered `members` that differ from the initial values of the form, or all members for a
    /// form without the hidden field.
    static func changes(_ members: [String: JSONValue], _ form: FormData) -> [String: JSONValue] {
        guard let text = form[Self.field], let json = try? JSONValue(parsing: Data(text.utf8)),
            case .object(let old) = json
        else { return members }
        return members.filter { $0.value != old[$0.key] ?? .null }
    }
}
