import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// The rules of APNs reference 2.1 with the vectors of 8.1.
@Suite struct ProviderTokenVerifierTests {
    @Test(arguments: [Vectors.providerToken, Vectors.providerTokenDER, Vectors.providerToken + "=="])
    func bothFormsOfASignatureAreGood(token: String) throws {
        #expect(try Self.verify(token).get().key.teamID == Vectors.teamID)
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
        #"{"iss":"DEF123GHIJ","iat":1700000000,"exp":1,"aud":["x"],"sub":null}"#,
        "{\n  \"kid\" : \"ABC123DEFG\",\n  \"iat\" : \"1700000000\",\n  \"iss\" : \"DEF123GHIJ\"\n}",
    ])
    func thePeculiaritiesOfRealClientsAreTolerated(claims: String) throws {
        for header in [#"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG"}"#, #"{"alg":"ES256","kid":"ABC123DEFG"}"#] {
            let token = try TestKey().sign(header: header, claims: claims)
            #expect(try Self.verify(token).get().issuedAt == Vectors.issuedAt)
        }
    }

    @Test(arguments: [
        (#"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"HS256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"ES256","kid":"OTHERKEY00"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"ES256"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"OTHERTEAM1","iat":1700000000}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ"}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":"soon"}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":"nan"}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":"1700000000000"}"#),
        (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1e300}"#),
        (#"[]"#, #"5"#),
    ])
    func aSignedTokenThatSaysTheWrongThingsIsInvalid(header: String, claims: String) throws {
        #expect(Self.verify(try TestKey().sign(header: header, claims: claims)) == .failure(.invalidProviderToken))
    }

    /// Findings D8: pushok (PHP) names ES512, signs a SHA-512 digest with its P-256 key, and pads both numbers to 66
    /// bytes.
    @Test func aTokenThatNamesES512IsGoodUnlessTheRulesAreStrict() throws {
        let token = try TestKey().signES512()
        #expect(try Self.verify(token).get().algorithm == .es512)
        #expect(Self.verify(token, algorithms: ProviderRules.strict.tokenAlgorithms) == .failure(.invalidProviderToken))
        let tokens = [try TestKey().token(), try TestKey("OTHERKEY00").signES512(keyID: Vectors.keyID)]
        #expect(try Self.verify(tokens[0], algorithms: ProviderRules.strict.tokenAlgorithms).get().algorithm == .es256)
        #expect(Self.verify(tokens[1]) == .failure(.invalidProviderToken), "of another key")
    }

    @Test func aTokenThatNamesES512AndIsSignedAsES256IsInvalid() throws {
        let token = try TestKey().sign(
            header: #"{"alg":"ES512","kid":"ABC123DEFG"}"#,
            claims: #"{"iss":"DEF123GHIJ","iat":1700000000}"#
        )
        #expect(Self.verify(token) == .failure(.invalidProviderToken))
        let padded = try TestKey().signES512().split(separator: ".")
        let signature = try #require(padded.last.map { "A" + String($0.dropFirst()) })
        let shifted = "\(padded[0]).\(padded[1]).B\(signature.dropFirst())"
        #expect(Self.verify(shifted) == .failure(.invalidProviderToken), "the padding is not zero")
    }

    @Test func aTokenWithAByteChangedIsNoTokenAndNothingCrashes() throws {
        var generator = SeededGenerator(seed: 1)
        let token = Array(Vectors.providerToken.utf8)
        for _ in 0..<500 {
            var changed = token
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: changed.indices, using: &generator)
                changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            }
            let text = String(decoding: changed, as: UTF8.self)
            // The last digit of base64 has unused bits.
            guard !text.hasPrefix(Vectors.providerToken.dropLast()), text != Vectors.providerToken else { continue }
            #expect(Self.verify(text) == .failure(.invalidProviderToken), "\(text)")
        }
    }

    @Test func randomTextIsNoToken() {
        var generator = SeededGenerator(seed: 2)
        let characters = Array("eyJhbGciOiJFUzI1NiJ9.=-_{}\"\0é".unicodeScalars)
        for _ in 0..<500 {
            var text = ""
            for _ in 0..<Int.random(in: 0...200, using: &generator) {
                if let next = characters.randomElement(using: &generator) { text.unicodeScalars.append(next) }
            }
            #expect(Self.verify(text) == .failure(.invalidProviderToken))
        }
    }

    private static func verify(
        _ token: String,
        algorithms: Set<ProviderTokenAlgorithm> = ProviderRules.lenient.tokenAlgorithms,
        now: Timestamp = Vectors.issuedAt
    ) -> Result<VerifiedProviderToken, Reason> {
        let key = try? TestKey().registered
        let signed = ProviderTokenVerifier.signed(token, algorithms: algorithms) { $0 == Vectors.keyID ? key : nil }
        guard let signed else { return .failure(.invalidProviderToken) }
        return signed.rejection(at: now).map { .failure($0) } ?? .success(signed)
    }
}
