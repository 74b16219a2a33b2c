import Crypto
import Foundation
import PushProtocol
import PushTesting
import Testing

@testable import PushGateway

/// Reference 2.1 and the vectors of 8.1.
@Suite struct ProviderTokenVerifierTests {
    @Test(arguments: [Vectors.providerToken, Vectors.providerTokenDER])
    func bothFormsOfASignatureAreGood(token: String) throws {
        #expect(try Self.verify(token).get().teamID == Vectors.teamID)
    }

    @Test(arguments: [Vectors.providerTokenForged, "", "..", "a.b.c", "a.b", String(repeating: "A", count: 5000)])
    func whatWasNotSignedIsInvalid(token: String) {
        #expect(Self.verify(token) == .failure(.invalidProviderToken))
    }

    @Test(arguments: [(3600, nil), (3601, Reason.expiredProviderToken), (-3600, nil), (-3601, .invalidProviderToken)])
    func ageIsLimitedToAnHour(seconds: Int, reason: Reason?) {
        let now = Vectors.issuedAt.advanced(by: .seconds(seconds))
        switch Self.verify(Vectors.providerToken, now: now) {
        case .success: #expect(reason == nil)
        case .failure(let found): #expect(found == reason)
        }
    }

    @Test(arguments: [
        #"{"iss":"DEF123GHIJ","iat":"1700000000"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000.75}"#,
        "{\n  \"kid\" : \"ABC123DEFG\",\n  \"iat\" : \"1700000000\",\n  \"iss\" : \"DEF123GHIJ\"\n}",
    ])
    func thePeculiaritiesOfRealClientsAreTolerated(claims: String) throws {
        let token = try Self.sign(header: #"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG"}"#, claims: claims)
        #expect(try Self.verify(token).get().issuedAt == Vectors.issuedAt)
    }

    @Test(arguments: [
        (#"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"HS256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"ES256","kid":"OTHERKEY00"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"ES256"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"OTHERTEAM1","iat":1700000000}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ"}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":"soon"}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1e300}"#),
        (#"[]"#, #"5"#),
    ])
    func aSignedTokenThatSaysTheWrongThingsIsInvalid(header: String, claims: String) throws {
        #expect(Self.verify(try Self.sign(header: header, claims: claims)) == .failure(.invalidProviderToken))
    }

    @Test func aConnectionBelongsToTheTeamOfItsFirstGoodToken() throws {
        let other = P256.Signing.PrivateKey()
        let keys = [
            Vectors.keyID: try Self.vectorKey(),
            "OTHERKEY00": RegisteredKey(
                teamID: "OTHERTEAM1",
                keyID: "OTHERKEY00",
                publicKey: Array(other.publicKey.x963Representation)
            ),
        ]
        let otherToken = try Self.sign(
            header: #"{"alg":"ES256","kid":"OTHERKEY00"}"#,
            claims: #"{"iss":"OTHERTEAM1","iat":1700000000}"#,
            key: other
        )
        var connection = ProviderConnection()
        func authenticate(_ token: String) -> Result<String, Reason> {
            connection.authenticate("Bearer \(token)", key: { keys[$0] }, now: Vectors.issuedAt)
        }
        #expect(authenticate(Vectors.providerTokenForged) == .failure(.invalidProviderToken))
        #expect(authenticate(Vectors.providerToken) == .success(Vectors.teamID))
        #expect(authenticate(otherToken) == .failure(.invalidProviderToken))
        #expect(authenticate(Vectors.providerToken) == .success(Vectors.teamID))
        let late = Vectors.issuedAt.advanced(by: .seconds(3601))
        let aged = connection.authenticate("bearer \(Vectors.providerToken)", key: { keys[$0] }, now: late)
        #expect(aged == .failure(.expiredProviderToken), "a token seen before ages too")
        let revoked = connection.authenticate(
            "bearer \(Vectors.providerToken)",
            key: { _ in nil },
            now: Vectors.issuedAt
        )
        #expect(revoked == .failure(.invalidProviderToken), "and its key may be gone")
    }

    static func vectorKey() throws -> RegisteredKey {
        let key = try P256.Signing.PublicKey(pemRepresentation: Vectors.publicKey)
        return RegisteredKey(
            teamID: Vectors.teamID,
            keyID: Vectors.keyID,
            publicKey: Array(key.x963Representation)
        )
    }

    static func verify(_ token: String, now: Timestamp = Vectors.issuedAt) -> Result<VerifiedProviderToken, Reason> {
        ProviderTokenVerifier.verify(
            token,
            key: { $0 == Vectors.keyID ? try? Self.vectorKey() : nil },
            now: now
        )
    }

    static func sign(
        header: String,
        claims: String,
        key: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let key = try key ?? P256.Signing.PrivateKey(pemRepresentation: Vectors.privateKey)
        let input = "\(Self.encode(Data(header.utf8))).\(Self.encode(Data(claims.utf8)))"
        return "\(input).\(Self.encode(try key.signature(for: Data(input.utf8)).rawRepresentation))"
    }

    static func encode(_ data: Data) -> String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
