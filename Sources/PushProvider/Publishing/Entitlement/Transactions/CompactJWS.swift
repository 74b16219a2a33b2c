import Foundation
import PushSupport
import PushTypes

/// A JWS in compact form (RFC 7515 section 7.1) from StoreKit 2, signed with ES256, whose header contains the signer's
/// certificates (`x5c`). Its payload must not be trusted before signature and certificates are verified.
struct CompactJWS: Hashable, Sendable {
    /// The maximum length of a JWS, in bytes. A longer one is ``TransactionFault/tooLong``.
    static let maximumLength = 16 * 1024
    /// The number of certificates in the chain: the signer's, Apple's intermediate certificate and Apple's root.
    static let certificateCount = 3

    /// The certificates in DER, the signer's first.
    let certificates: [[UInt8]]
    let payload: [String: JSONValue]
    let signedBytes: Data
    /// The signature: 32 bytes of r and 32 bytes of s (RFC 7518 section 3.4).
    let signature: Data

    /// Parses a JWS without verifying it.
    /// - Throws: ``TransactionFault`` for any other text.
    init(_ text: String) throws(TransactionFault) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("it does not have the three parts of a JWS") }
        let header = try Self.members(parts[0], of: "header")
        guard header["alg"] == .string("ES256") else { throw .malformed("it is not signed with ES256") }
        // Parameters that a header declares critical must be understood (RFC 7515 section 4.1.11). None is supported.
        guard header["crit"] == nil else { throw .malformed("its header has a critical extension") }
        self.certificates = try Self.certificates(header["x5c"])
        self.payload = try Self.members(parts[1], of: "payload")
        guard let signature = Self.decode(parts[2]), signature.count == 64 else {
            throw .malformed("its signature does not have 64 bytes")
        }
        self.signature = signature
        self.signedBytes = Data(text.utf8.prefix(upTo: parts[1].endIndex))
    }

    private static func certificates(_ chain: JSONValue?) throws(TransactionFault) -> [[UInt8]] {
        guard case .array(let texts)? = chain else { throw .malformed("its header has no certificates (x5c)") }
        guard texts.count == Self.certificateCount else {
            throw .malformed("its header has \(texts.count) certificates instead of \(Self.certificateCount)")
        }
        var certificates: [[UInt8]] = []
        for text in texts {
            // The certificates are in base64, not base64url (RFC 7515 section 4.1.6).
            guard case .string(let base64) = text, let der = Data(base64Encoded: base64), !der.isEmpty else {
                throw .malformed("a certificate in its header is not base64")
            }
            certificates.append(Array(der))
        }
        return certificates
    }

    private static func members(
        _ part: Substring.UTF8View,
        of name: String
    ) throws(TransactionFault) -> [String: JSONValue] {
        guard let data = Self.decode(part),
            case .object(let members)? = try? JSONValue(parsing: data, refusesDuplicates: true)
        else { throw .malformed("its \(name) is not a JSON object in base64url, with each member once") }
        return members
    }

    /// Decodes base64url in its canonical form, or returns `nil` for padding, other characters and surplus bits.
    private static func decode(_ part: Substring.UTF8View) -> Data? {
        let text = String(decoding: part, as: UTF8.self)
        guard let data = Base64URL.decode(text), Base64URL.encode(data) == text else { return nil }
        return data
    }
}
