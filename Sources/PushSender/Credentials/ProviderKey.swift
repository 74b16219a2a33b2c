import Crypto
import PushTypes

/// A team's signing key for provider tokens (APNs reference 2.1).
public struct ProviderKey: Sendable {
    /// The length of a key identifier and a team identifier, in characters.
    package static let identifierLength = 10

    /// The identifier of the developer team, which is the claim `iss`.
    public let teamID: String
    /// The identifier of the key, which is the header parameter `kid`.
    public let keyID: String
    let privateKey: P256.Signing.PrivateKey

    /// An identifier that contains no secret and is the same for the key in every process. It is computed only once,
    /// because it is needed often.
    let identity: String

    /// The shared source of the key's provider tokens, or `nil` if each sender signs its own tokens.
    package var tokens: (any ProviderTokenSource)?

    /// The public key, which distinguishes keys that claim the same identifiers.
    package var publicKey: [UInt8] { Array(self.privateKey.publicKey.rawRepresentation) }

    /// Parses a key.
    /// - Parameters:
    ///   - teamID: The identifier of the developer team.
    ///   - keyID: The identifier of the key.
    ///   - pem: The text of a `.p8` file, which contains an ECDSA P-256 key in PKCS#8 and PEM.
    /// - Throws: ``CredentialError/badTeamID``, ``CredentialError/badKeyID`` or ``CredentialError/badPrivateKey`` for
    ///   an invalid argument.
    public init(teamID: String, keyID: String, pem: String) throws(CredentialError) {
        guard Self.isIdentifier(teamID) else { throw .badTeamID }
        guard Self.isIdentifier(keyID) else { throw .badKeyID }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else { throw .badPrivateKey }
        (self.teamID, self.keyID) = (teamID, keyID)
        self.privateKey = key
        let text = Array("\(teamID) \(keyID) ".utf8) + key.publicKey.rawRepresentation
        self.identity = "token-\(Hexadecimal.encode(SHA256.hash(data: text)))"
    }

    /// Returns whether a text is a team or key identifier, which consists of 10 ASCII letters and digits.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == Self.identifierLength
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
            }
    }
}
