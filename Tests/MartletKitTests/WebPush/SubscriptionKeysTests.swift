import Crypto
import Foundation
import Testing

@testable import MartletKit

@Suite("Keys of subscriptions") struct SubscriptionKeysTests {
    /// The example of RFC 8291.
    private static let privateKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    private static let publicKey = """
        BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4
        """
    private static let body = """
        DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_\
        yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
        """

    private func bytes(_ text: String) throws -> Data { try #require(URLSafeBase64.decode(text)) }

    private func keys() throws -> SubscriptionKeys {
        let representation = try self.bytes(Self.privateKey) + self.bytes(Self.secret)
        return try #require(SubscriptionKeys(representation: representation))
    }

    private func message(_ body: Data, _ payload: [String: JSONValue] = [:]) -> PushedMessage {
        PushedMessage(payload, body: body)
    }

    @Test("The example of RFC 8291 is opened")
    func vector() throws {
        let keys = try self.keys()
        #expect(keys.publicKey == (try self.bytes(Self.publicKey)))
        let content = keys.open(self.message(try self.bytes(Self.body)))
        #expect(content.map { String(decoding: $0, as: UTF8.self) } == "When I grow up, I want to be a watermelon")
    }

    @Test("A record is at most as long as its size, which is 18 or more", arguments: [0, 17, 18, 57])
    func recordSizeIsTooSmall(size: UInt8) throws {
        var body = try self.bytes(Self.body)
        body.replaceSubrange(16..<20, with: [0, 0, 0, size])
        #expect(try self.keys().open(self.message(body)) == nil)
    }

    @Test("Any larger record size is as good", arguments: [58, 200])
    func recordSizeFits(size: UInt8) throws {
        var body = try self.bytes(Self.body)
        body.replaceSubrange(16..<20, with: [0, 0, 0, size])
        #expect(try self.keys().open(self.message(body)) != nil)
    }

    @Test("A message of the drafts is opened")
    func legacy() throws {
        let (keys, sender) = (SubscriptionKeys(), P256.KeyAgreement.PrivateKey())
        let salt = Data(repeating: 9, count: 16)
        let senderKey = sender.publicKey.x963Representation
        let shared = try sender.sharedSecretFromKeyAgreement(with: .init(x963Representation: keys.publicKey))
        let auth = Data("Content-Encoding: auth\0".utf8)
        let key = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: keys.secret,
            sharedInfo: auth,
            outputByteCount: 32
        )
        let context = Data("P-256\0".utf8) + [0, 65] + keys.publicKey + [0, 65] + senderKey
        func derive(_ name: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key,
                salt: salt,
                info: Data("Content-Encoding: \(name)\0".utf8) + context,
                outputByteCount: count
            )
        }
        let nonce = derive("nonce", 12).withUnsafeBytes { Data($0) }
        let padded = Data([0, 3, 0, 0, 0]) + Data("an old message".utf8)
        let box = try AES.GCM.seal(padded, using: derive("aesgcm", 16), nonce: .init(data: nonce))
        let payload: [String: JSONValue] = [
            "wpsalt": .string(URLSafeBase64.encode(salt)), "wpdh": .string(URLSafeBase64.encode(senderKey)),
        ]
        let content = keys.open(self.message(box.ciphertext + box.tag, payload))
        #expect(content == Data("an old message".utf8))
        #expect(SubscriptionKeys().open(self.message(box.ciphertext + box.tag, payload)) == nil)
        #expect(keys.open(self.message(box.ciphertext + box.tag)) == nil, "without its headers")
        #expect(keys.open(self.message(Data(), payload)) == nil)
    }

    @Test("Keys are kept and read again")
    func representation() throws {
        let keys = SubscriptionKeys()
        let again = try #require(SubscriptionKeys(representation: keys.representation))
        #expect(again.publicKey == keys.publicKey && again.secret == keys.secret)
        #expect(keys.publicKey.count == 65 && keys.secret.count == 16 && keys.representation.count == 48)
        #expect(SubscriptionKeys(representation: Data()) == nil)
        #expect(SubscriptionKeys(representation: Data(repeating: 255, count: 48)) == nil, "no number of the curve")
    }

    @Test("What was cut or changed is not opened")
    func garbage() throws {
        let keys = try self.keys()
        let body = try self.bytes(Self.body)
        for length in 0..<body.count { #expect(keys.open(self.message(body.prefix(length))) == nil) }
        for index in body.indices where !(16..<20).contains(index) {
            var changed = body
            changed[index] ^= 1
            #expect(keys.open(self.message(changed)) == nil)
        }
        #expect(SubscriptionKeys().open(self.message(body)) == nil)
    }
}
