import Crypto
package import Foundation
package import PushSupport

/// The public key of an installation, to which the content of encrypted notifications is sealed.
package struct InstallationPublicKey: Hashable, Sendable {
    /// The length of a key, in bytes.
    package static let length = 32
    /// The maximum length of a key's name, in bytes. A longer one is rejected.
    package static let maximumID = 64

    /// The name by which the installation finds its private key.
    package var id: String
    /// The X25519 public key, 32 bytes.
    package var bytes: [UInt8]

    package init(id: String, bytes: [UInt8]) { (self.id, self.bytes) = (id, bytes) }

    /// Returns whether an installation may register a public key.
    ///
    /// Keys of another length are refused, and so are points of small order, whose shared secret is publicly known (RFC
    /// 9180 section 7.1.4). swift-crypto leaves the latter check to its users.
    package static func isUsable(_ key: Data) -> Bool {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: key),
            let secret = try? Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: key)
        else { return false }
        return secret.withUnsafeBytes { bytes in bytes.contains { $0 != 0 } }
    }
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
        guard Self.isUsable(bytes) else {
            throw fields.error("key", "invalid_key", "this point of X25519 gives no secret: make a new key pair")
        }
    }

    package var json: JSONValue {
        .object(["id": .string(self.id), "key": .string(Data(self.bytes).base64EncodedString())])
    }
}
