import Crypto
import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushWire

@Suite struct EncryptedContentTests {
    /// The number of bytes that a body has besides its content.
    private static let overhead = 103

    @Test(arguments: WebPushVectors.messages)
    func aMessageIsSealedToTheSameBytes(_ vector: WebPushVectors.Message) throws {
        let bytes = WebPushVectors.bytes
        let keys = try #require(WebPushKeys(publicKey: bytes(vector.agentPublic), secret: bytes(vector.secret)))
        let sender = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(vector.senderPrivate))
        let body = try keys.seal(Array(vector.plaintext.utf8), as: sender, salt: bytes(vector.salt))
        #expect(Base64URL.encode(body) == vector.body)
        #expect(body.count == vector.plaintext.utf8.count + Self.overhead)
    }

    @Test func whatIsSealedIsOpenedByItsKeyOnly() throws {
        let (own, other) = (WebPushSecret(), WebPushSecret())
        let keys = try #require(own.keys)
        for length in [0, 1, 100, WebPushKeys.maximumContent] {
            let content = [UInt8](repeating: 7, count: length)
            let body = try keys.seal(content)
            #expect(body.count == length + Self.overhead)
            #expect(own.open(body) == content)
            #expect(other.open(body) == nil)
        }
        #expect(try keys.seal([1]) != keys.seal([1]), "each message has a key and a salt of its own")
    }
}
