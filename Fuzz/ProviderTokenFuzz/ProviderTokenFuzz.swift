import Crypto
import Foundation
import Fuzzing

@testable import PushGateway

/// Compares the verifier of provider tokens with a second, simple one. The first byte of an input selects whether the rest is a
/// token, or the content of a token that is signed with a valid key.
@main
enum ProviderTokenFuzz {
    static func main() throws {
        let key = try P256.Signing.PrivateKey(pemRepresentation: Self.pem)
        let registered = RegisteredKey(
            teamID: SecondCheck.teamID,
            keyID: SecondCheck.keyID,
            publicKey: Array(key.publicKey.x963Representation)
        )
        let second = SecondCheck(key: key.publicKey)
        Fuzzer.run(stackSize: 512 * 1024) { input in
            guard let kind = input.first else { return }
            let token =
                kind & 1 == 0 ? String(decoding: input.dropFirst(), as: UTF8.self) : Self.signed(input, with: key)
            let verified = ProviderTokenVerifier.signed(token, algorithms: [.es256]) {
                $0 == SecondCheck.keyID ? registered : nil
            }
            if let claims = verified, claims.rejection(at: SecondCheck.now) == nil {
                precondition(second.accepts(token), "taken: \(token)")
                precondition(claims.key.teamID == SecondCheck.teamID && claims.key.keyID == SecondCheck.keyID)
            }
        }
    }

    /// Signs a header and claims, which a zero byte separates. Kind 1 gets a raw signature, kind 3 one in DER.
    private static func signed(_ input: [UInt8], with key: P256.Signing.PrivateKey) -> String {
        let parts = input.dropFirst().split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            .map { Self.base64URL(Data($0)) }
        let text = parts.joined(separator: ".")
        guard let signature = try? key.signature(for: Data(text.utf8)) else { return text }
        let bytes = input.first.map { $0 & 2 == 0 } ?? true ? signature.rawRepresentation : signature.derRepresentation
        return "\(text).\(Self.base64URL(bytes))"
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// The key of the test vectors (reference 8.1).
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCdc3nwI/eBRIVJ4G
        KKGcRmaSRV3UF5dJBBx0weiQKCqhRANCAASDS5bDOgTGTMcSsw8hYNUEn89SNhOo
        pYB21oMcVbGvUAbFXZKjhDxRaQ52g4RrZJheIqTg9s1j89TdyvFLdhDJ
        -----END PRIVATE KEY-----
        """
}
