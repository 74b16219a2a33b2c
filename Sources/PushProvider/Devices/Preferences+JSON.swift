import Foundation
package import ProviderModel
import PushStore
package import PushSupport
import PushTypes

extension Preferences {
    private static let optOutsMember = Member.texts("optOuts", 0...Self.maximumOptOuts, maximum: Self.maximumCategory)
        .described("The consent categories that are not wanted.")

    package static let object = RequestObject(optional: [Self.optOutsMember, QuietHours.member]) {
        $0.described("Replaces all earlier preferences.").named("Preferences")
    }

    /// Reads preferences from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        self.init(optOuts: [], quietHours: try fields.value(QuietHours.member))
        let texts = try fields.value(Self.optOutsMember) ?? []
        for (index, text) in texts.enumerated() where !Self.isCategory(text) {
            throw fields.error("optOuts[\(index)]", "invalid_value", Self.categoryForm)
        }
        self.optOuts = Set(texts.map { BytewiseString($0) })
    }

    static let categoryForm = "a consent category has 1 to \(Self.maximumCategory) bytes without control characters"

    package var json: JSONValue {
        var members: [String: JSONValue] = ["optOuts": .array(self.optOuts.sorted().map { .string($0.text) })]
        members["quietHours"] = self.quietHours?.json
        return .object(members)
    }
}

extension QuietHours {
    private enum Members {
        static let (from, to) = (Self.time("from"), Self.time("to"))

        private static func time(_ name: String) -> RequestMember<LocalTime> {
            Member.text(name, maximum: 8, as: .clockTime)
                .parsed("invalid_time", "use a time of day such as 22:00") { LocalTime($0) }
        }
    }

    fileprivate static let member = Member.object(
        "quietHours",
        RequestObject(required: [Members.from, Members.to]) {
            $0.described("Times on the clock of each device. They differ, and may span midnight.")
        }
    ) { (fields) throws(RequestError) -> QuietHours in
        let (from, to) = (try fields.required(Members.from), try fields.required(Members.to))
        guard let quiet = QuietHours(from: from, to: to) else {
            throw fields.error("to", "invalid_value", "it is the same as from: leave quietHours out for none")
        }
        return quiet
    }

    var json: JSONValue { .object(["from": .string("\(self.from)"), "to": .string("\(self.to)")]) }
}

extension InstallationPublicKey {
    private enum Members {
        static let id = Member.text("id", 1...InstallationPublicKey.maximumID, pattern: "^[!#-.0-\\[\\]-~]+$")
        static let key = Member.text("key", maximum: 64, as: .string(length: 44...44, pattern: "^[A-Za-z0-9+/]{43}=$"))
            .described("Base64 of the 32 bytes of an X25519 public key.")
    }

    package static let object = RequestObject(required: [Members.id, Members.key]) { $0.named("EncryptionKey") }

    /// Reads a public key from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault, also for a key to which no content can be encrypted.
    package init(_ fields: JSONFields) throws(RequestError) {
        let (id, text) = (try fields.required(Members.id), try fields.required(Members.key))
        guard
            id.unicodeScalars.allSatisfy({
                $0.isASCII && $0.value > 0x20 && $0.value != 0x7f && !"\"\\/".contains(Character($0))
            })
        else { throw fields.error("id", "invalid_value", "use letters, digits and signs of ASCII but \", \\ and /") }
        guard let bytes = Data(base64Encoded: text), bytes.count == Self.length else {
            throw fields.error("key", "invalid_key", "use base64 of the \(Self.length) bytes of an X25519 public key")
        }
        self.init(id: id, bytes: Array(bytes))
        guard ContentSealer.accepts(bytes) else {
            throw fields.error("key", "invalid_key", "this point of X25519 gives no secret: make a new key pair")
        }
    }

    package var json: JSONValue {
        .object(["id": .string(self.id), "key": .string(Data(self.bytes).base64EncodedString())])
    }
}
