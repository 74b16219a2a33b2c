import Foundation
package import PushStore
package import PushSupport
import PushTypes

extension Preferences {
    package static let members: Set<String> = ["optOuts", "quietHours"]

    /// Reads preferences from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        self.init(optOuts: [], quietHours: try QuietHours.read(fields))
        let texts = try fields.strings("optOuts", count: Self.maximumOptOuts, maximum: Self.maximumCategory) ?? []
        for (index, text) in texts.enumerated() where !Self.isCategory(text) {
            throw fields.error("optOuts[\(index)]", "invalid_value", Self.categoryForm)
        }
        self.optOuts = Set(texts.map { ExactText($0) })
    }

    static let categoryForm = "a consent category has 1 to \(Self.maximumCategory) bytes without control characters"

    package var json: JSONValue {
        var members: [String: JSONValue] = ["optOuts": .array(self.optOuts.sorted().map { .string($0.text) })]
        members["quietHours"] = self.quietHours?.json
        return .object(members)
    }
}

extension QuietHours {
    private static let members: Set<String> = ["from", "to"]

    /// Reads the member `quietHours`; `nil` if it is absent.
    fileprivate static func read(_ fields: JSONFields) throws(RequestError) -> QuietHours? {
        guard let hours = try fields.fields("quietHours", known: Self.members) else { return nil }
        let (from, to) = (try Self.time("from", hours), try Self.time("to", hours))
        guard let quiet = QuietHours(from: from, to: to) else {
            throw hours.error("to", "invalid_value", "it is the same as from: leave quietHours out for none")
        }
        return quiet
    }

    private static func time(_ name: String, _ fields: JSONFields) throws(RequestError) -> LocalTime {
        let text = try fields.requiredString(name, maximum: 8)
        guard let time = LocalTime(text) else {
            throw fields.error(name, "invalid_time", "use a time of day such as 22:00")
        }
        return time
    }

    var json: JSONValue { .object(["from": .string("\(self.from)"), "to": .string("\(self.to)")]) }
}

extension EncryptionKey {
    package static let members: Set<String> = ["id", "key"]

    /// Reads a public key from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault, also for a key to which nothing can be sealed.
    package init(_ fields: JSONFields) throws(RequestError) {
        let id = try fields.requiredString("id", maximum: Self.maximumID)
        let text = try fields.requiredString("key", maximum: 64)
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
