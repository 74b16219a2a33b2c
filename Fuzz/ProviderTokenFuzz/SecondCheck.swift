import Crypto
import Foundation
import PushTypes

/// A second, simple verifier of provider tokens that shares no code with the gateway's. Every token that the gateway accepts
/// must pass it.
struct SecondCheck: Sendable {
    static let teamID = "DEF123GHIJ"
    static let keyID = "ABC123DEFG"
    static let now = Timestamp(seconds: 1_700_000_000)
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    let key: P256.Signing.PublicKey

    func accepts(_ token: String) -> Bool {
        let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(
            Array.init
        )
        guard token.utf8.count <= 4096, parts.count == 3,
            let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            let signature = Self.decode(parts[2]),
            self.isSigned(signature, parts[0] + [UInt8(ascii: ".")] + parts[1])
        else { return false }
        return self.hasValidMembers(header, claims)
    }

    /// Checks the members. A signed text may have a member twice, and parsers differ in the one they take (RFC 7519 section 4): of
    /// such a text only the signature is checked.
    private func hasValidMembers(_ headerText: [UInt8], _ claimsText: [UInt8]) -> Bool {
        guard let header = Self.members(headerText), let claims = Self.members(claimsText) else { return false }
        if Self.mayRepeat(["alg", "kid"], headerText) || Self.mayRepeat(["iss", "iat"], claimsText) { return true }
        return header["alg"] as? String == "ES256" && header["kid"] as? String == Self.keyID
            && claims["iss"] as? String == Self.teamID && Self.isInTime(claims["iat"])
    }

    private static func mayRepeat(_ names: [String], _ text: [UInt8]) -> Bool {
        text.contains(UInt8(ascii: "\\"))
            || names.contains { String(decoding: text, as: UTF8.self).ranges(of: "\"\($0)\"").count > 1 }
    }

    private func isSigned(_ signature: [UInt8], _ input: [UInt8]) -> Bool {
        let forms = [
            try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            try? P256.Signing.ECDSASignature(derRepresentation: signature),
        ]
        return forms.contains { form in form.map { self.key.isValidSignature($0, for: input) } ?? false }
    }

    /// Tells whether a claim is within an hour of now. A fraction of a second is ignored.
    private static func isInTime(_ claim: Any?) -> Bool {
        let seconds = (claim as? NSNumber)?.doubleValue ?? (claim as? String).flatMap(Double.init)
        return seconds.map { abs($0.rounded(.down) - Double(Self.now.seconds)) <= 3600 } ?? false
    }

    /// Returns the members of an object. Foundation's parser accepts more than the gateway's, such as a trailing comma.
    private static func members(_ text: [UInt8]) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
    }

    /// Decodes base64 in either alphabet. `=` is ignored.
    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        var (bits, count, bytes) = (UInt32(0), 0, [UInt8]())
        for character in text where character != UInt8(ascii: "=") {
            let value: Int?
            switch character {
            case UInt8(ascii: "-"), UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "_"), UInt8(ascii: "/"): value = 63
            default: value = self.alphabet.firstIndex(of: character)
            }
            guard let value else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
