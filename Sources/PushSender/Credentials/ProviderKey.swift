import Crypto

/// A team's token signing key: what makes provider tokens (reference 2.1).
public struct ProviderKey: Sendable {
    /// Length of key and team identifiers, in characters.
    public static let identifierLength = 10

    /// The developer team, as claim `iss` names it.
    public let teamID: String
    /// The key, as header `kid` names it.
    public let keyID: String
    /// ECDSA P-256.
    let privateKey: P256.Signing.PrivateKey

    /// Gives the provider tokens of this key; `nil` lets each sender make its own, in memory.
    package var tokens: (any ProviderTokenSource)?

    /// What tells two keys apart, even if they claim the same ids.
    package var publicKey: [UInt8] { Array(self.privateKey.publicKey.rawRepresentation) }

    /// - Parameter pem: the text of a `.p8` file: PKCS#8, `BEGIN PRIVATE KEY`.
    public init(teamID: String, keyID: String, pem: String) throws(CredentialError) {
        guard Self.isIdentifier(teamID) else { throw .badTeamID }
        guard Self.isIdentifier(keyID) else { throw .badKeyID }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else { throw .badPrivateKey }
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = key
    }

    /// Whether `text` is 10 ASCII letters or digits.
    public static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == Self.identifierLength
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
            }
    }
}
