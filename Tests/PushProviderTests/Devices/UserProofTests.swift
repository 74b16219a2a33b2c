import Crypto
import Foundation
import ProviderModel
import PushProvider
import PushSupport
import PushTypes
import Testing

/// The proofs with which a back end claims a user for an installation.
@Suite struct UserProofTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let secret = UserSecretRecord(id: UUID(), createdAt: now, secret: "us_secret")

    /// Returns a JWT as any library makes it.
    static func jwt(
        _ claims: [String: JSONValue],
        header: [String: JSONValue] = ["alg": .string("HS256"), "typ": .string("JWT")],
        secret: String = Self.secret.secret
    ) throws -> String {
        func encode(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let signed = "\(encode(try JSONValue.object(header).text)).\(encode(try JSONValue.object(claims).text))"
        let key = SymmetricKey(data: Data(secret.utf8))
        return "\(signed).\(encode(Data(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key))))"
    }

    private static func claims(_ more: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let usual: [String: JSONValue] = ["sub": .string("alice"), "exp": .integer(Self.now.seconds + 600)]
        return usual.merging(more) { $1 }.filter { $0.value != .null }
    }

    private static func user(_ text: String, secrets: [UserSecretRecord] = [Self.secret]) throws -> String {
        try UserProof(text, secrets: secrets, installation: "installation-1", now: Self.now).user
    }

    @Test func aSignedClaimNamesItsUser() throws {
        #expect(try Self.user(try Self.jwt(Self.claims())) == "alice")
        let bound = Self.claims(["installation": .string("installation-1"), "iat": .integer(Self.now.seconds)])
        #expect(try Self.user(try Self.jwt(bound)) == "alice")
    }

    @Test func bothSecretsOfARotationAreValid() throws {
        let newer = UserSecretRecord(id: UUID(), createdAt: Self.now, secret: "us_newer")
        for secret in [Self.secret, newer] {
            let text = try Self.jwt(Self.claims(), secret: secret.secret)
            #expect(try Self.user(text, secrets: [Self.secret, newer]) == "alice")
        }
        let old = try Self.jwt(Self.claims())
        #expect(throws: RequestError.self) { try Self.user(old, secrets: [newer]) }
    }

    @Test(
        arguments: [
            (["exp": .null], "no claim exp"), (["exp": .integer(1_800_000_000)], "has expired"),
            (["exp": .integer(1_800_000_000 + 86_400)], "more than an hour"),
            (["exp": .string("later")], "no claim exp"),
            (["exp": .integer(.max)], "more than an hour"), (["exp": .number(1e300)], "no claim exp"),
            (["nbf": .integer(1_800_000_500)], "nbf is in the future"),
            (["nbf": .string("tomorrow")], "nbf is no time"), (["iat": .bool(true)], "iat is no time"),
            (["installation": .string("installation-2")], "another installation"),
            (["installation": .bool(true)], "another installation"), (["sub": .null], "no user id"),
            (["sub": .string("")], "no user id"), (["sub": .string(String(repeating: "a", count: 257))], "no user id"),
            (["sub": .string("alice\0")], "no user id"), (["sub": .string("alice\0x")], "no user id"),
        ] as [([String: JSONValue], String)]
    )
    func aClaimThatDoesNotHoldIsRejected(claims: [String: JSONValue], why: String) throws {
        let text = try Self.jwt(Self.claims(claims))
        let error = #expect(throws: RequestError.self) { try Self.user(text) }
        #expect(error?.code == "invalid_user_proof")
        #expect(error?.message.contains(why) == true, "\(error?.message ?? "")")
    }

    @Test func anotherSignatureIsRejected() throws {
        let forged = [
            try Self.jwt(Self.claims(), secret: "us_other"),
            try Self.jwt(Self.claims(), header: ["alg": .string("none")]),
            try Self.jwt(Self.claims(), header: ["alg": .string("HS512")]),
            try Self.jwt(Self.claims(), header: ["alg": .string("HS256"), "crit": .array([])]),
            try Self.jwt(Self.claims()).split(separator: ".").dropLast().joined(separator: ".") + ".",
        ]
        for text in forged {
            #expect(throws: RequestError.self) { try Self.user(text) }
        }
        let text = try Self.jwt(Self.claims())
        #expect(throws: RequestError.self) { try Self.user(text, secrets: []) }
    }

    @Test func garbageIsRejected() {
        var generator = SystemRandomNumberGenerator()
        for length in [0, 1, 2, 3, 50, 5000] {
            let text = String((0..<length).map { _ in "abcXYZ019-_.=é".randomElement(using: &generator) ?? "." })
            #expect(throws: RequestError.self) { try Self.user(text) }
        }
        for text in ["..", "a.b.c", "e30.e30.", "....", "W10.W10.W10"] {
            #expect(throws: RequestError.self) { try Self.user(text) }
        }
    }
}
