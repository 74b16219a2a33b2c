import Foundation
import PushSupport
import PushTypes

/// The members of a request that encrypt its content.
enum EncryptionRequest {
    private static let encrypted = Member.bool("encrypted")
        .described("Encrypts the content to the key of each installation.")
    private static let texts = ["title", "body"].map { Member.text($0, 1...256) }
    private static let placeholderMember = Member.object("placeholder", RequestObject(optional: Self.texts))
        .described("The alert that Apple sees of encrypted content.")

    static let object = RequestObject(optional: [Self.encrypted, Self.placeholderMember])

    /// Reads the alert that Apple sees in place of encrypted content, as JSON text, or returns `nil` if the request
    /// does not encrypt its content.
    /// - Throws: ``RequestError`` that names the member at fault.
    static func placeholder(_ fields: JSONFields, _ pushType: PushType) throws(RequestError) -> Data? {
        let wanted = try fields.value(Self.placeholderMember)
        guard try fields.value(Self.encrypted) == true else {
            guard wanted == nil else {
                let message = "it replaces encrypted content: give encrypted true, or leave it out"
                throw fields.error("placeholder", "conflicting_field", message)
            }
            return nil
        }
        guard pushType == .alert else {
            let message = """
                only the push type alert can be encrypted: no extension of the app decrypts a \(pushType.rawValue) push
                """
            throw fields.error("encrypted", "conflicting_field", message)
        }
        guard fields.members["wallet"] != .bool(true) else {
            throw fields.error("encrypted", "conflicting_field", "the push for a pass has no content")
        }
        var alert: [String: JSONValue] = [:]
        if let wanted {
            for text in Self.texts { alert[text.name] = try wanted.value(text).map(JSONValue.string) }
        }
        if alert.isEmpty { alert = EnvelopeText.standardPlaceholder }
        guard let text = try? JSONValue.object(alert).text else {
            throw fields.error("placeholder", "invalid_value", "it cannot be written as JSON")
        }
        return text
    }

    /// Returns a warning for `content-available`, which is hidden in encrypted content, or `nil` if it is not set.
    static func warning(_ payload: [String: JSONValue]) -> ContentWarning? {
        guard case .object(let aps)? = payload["aps"], aps["content-available"] == .integer(1) else { return nil }
        let message = "content-available is encrypted too, so that it does not wake the app: its extension runs instead"
        return ContentWarning(field: "encrypted", message: message)
    }
}
