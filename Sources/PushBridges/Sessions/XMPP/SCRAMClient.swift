import Crypto
import Foundation
import PushTypes

/// The client side of one SCRAM exchange (RFC 5802, RFC 7677), without channel binding.
struct SCRAMClient: Hashable, Sendable {
    enum Mechanism: String, Hashable, Sendable {
        case sha1 = "SCRAM-SHA-1"
        case sha256 = "SCRAM-SHA-256"

        var hash: PBKDF2Derivation.Hash { self == .sha1 ? .sha1 : .sha256 }
    }

    /// The numbers of rounds that a server may request. RFC 7677 requires at least 4096, and servers use 10,000. The
    /// maximum takes about 50 ms.
    private static let rounds = 4096...100_000
    /// The maximum length of a salt, in bytes, and of a server's message, in bytes. Longer ones fail the exchange.
    private static let (maximumSalt, maximumMessage) = (1024, 8192)
    /// The GS2 header of a client without channel binding.
    private static let header = "n,,"

    let mechanism: Mechanism
    private let password: String
    private let nonce: String
    private let firstBare: String
    /// The concatenated messages that both signatures cover. It is empty until the server's first message arrives.
    private var signed = ""
    private var finalWithoutProof = ""
    private var serverSignature: [UInt8] = []

    /// Begins an exchange. `nonce` must be printable ASCII without commas, and unique to the exchange.
    init(_ mechanism: Mechanism, account: String, password: String, nonce: String) {
        (self.mechanism, self.password, self.nonce) = (mechanism, Self.prepared(password), nonce)
        let name = Self.prepared(account).replacing("=", with: "=3D").replacing(",", with: "=2C")
        self.firstBare = "n=\(name),r=\(nonce)"
    }

    static func makeNonce() -> String { Data(RandomBytes.make(18)).base64EncodedString() }

    var first: String { Self.header + self.firstBare }

    /// Processes the first message of the server. Throws ``ChatFailure`` if it is not a valid challenge.
    /// - Returns: The parameters of the key to derive.
    mutating func received(first message: String) throws(ChatFailure) -> PBKDF2Derivation {
        let fields = try Self.fields(message)
        guard let nonce = fields["r"], nonce.hasPrefix(self.nonce), nonce != self.nonce, fields["m"] == nil,
            let salt = fields["s"].flatMap({ Data(base64Encoded: $0) }), (1...Self.maximumSalt).contains(salt.count)
        else { throw ChatFailure("the server's challenge is not one of SCRAM") }
        guard let rounds = fields["i"].flatMap({ Int($0) }), Self.rounds.contains(rounds) else {
            let (least, most) = (Self.rounds.lowerBound, Self.rounds.upperBound)
            throw ChatFailure("the server's password has less than \(least) rounds or more than \(most)")
        }
        let header = Data(Self.header.utf8).base64EncodedString()
        self.finalWithoutProof = "c=\(header),r=\(nonce)"
        self.signed = "\(self.firstBare),\(message),\(self.finalWithoutProof)"
        return PBKDF2Derivation(hash: self.mechanism.hash, password: self.password, salt: Array(salt), rounds: rounds)
    }

    /// Returns the final message of the client, which proves that it knows the password.
    /// - Parameter key: The key that was derived from the password.
    mutating func final(key: [UInt8]) -> String {
        let clientKey = self.code(Array("Client Key".utf8), key: key)
        let signature = self.code(Array(self.signed.utf8), key: self.digest(clientKey))
        let serverKey = self.code(Array("Server Key".utf8), key: key)
        self.serverSignature = self.code(Array(self.signed.utf8), key: serverKey)
        let proof = Data(zip(clientKey, signature).map { $0 ^ $1 }).base64EncodedString()
        return "\(self.finalWithoutProof),p=\(proof)"
    }

    /// Verifies the server's signature, which proves that the server knows the password too. Throws a final failure
    /// otherwise.
    func check(final message: String) throws(ChatFailure) {
        let fields = try Self.fields(message)
        if fields["e"] != nil { throw ChatFailure("the server refused account or password", isFinal: true) }
        guard !self.serverSignature.isEmpty, let signature = fields["v"].flatMap({ Data(base64Encoded: $0) }),
            signature == Data(self.serverSignature)
        else { throw ChatFailure("the server did not prove that it knows the password", isFinal: true) }
    }

    private static func fields(_ message: String) throws(ChatFailure) -> [Substring: String] {
        guard message.utf8.count <= self.maximumMessage else { throw ChatFailure("the server's challenge is too long") }
        var fields: [Substring: String] = [:]
        for field in message.split(separator: ",") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, fields.updateValue(String(parts[1]), forKey: parts[0]) == nil else {
                throw ChatFailure("the server's challenge is not one of SCRAM")
            }
        }
        return fields
    }

    /// Returns a name or a password in the normalized form that both sides hash (the mappings of RFC 4013:
    /// compatibility forms, and one kind of space).
    private static func prepared(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        let mapped = text.unicodeScalars.compactMap { scalar -> Unicode.Scalar? in
            if scalar.properties.generalCategory == .spaceSeparator { return " " }
            return scalar == "\u{ad}" || scalar.properties.isVariationSelector ? nil : scalar
        }
        return String(String.UnicodeScalarView(mapped)).precomposedStringWithCompatibilityMapping
    }

    private func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let key = SymmetricKey(data: key)
        return switch self.mechanism {
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        }
    }

    private func digest(_ message: [UInt8]) -> [UInt8] {
        switch self.mechanism {
        case .sha1: Array(Insecure.SHA1.hash(data: message))
        case .sha256: Array(SHA256.hash(data: message))
        }
    }
}
