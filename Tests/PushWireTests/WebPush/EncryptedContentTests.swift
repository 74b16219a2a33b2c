import Crypto
import Foundation
import PushTypes
import Testing

@testable import PushWire

@Suite struct EncryptedContentTests {
    @Test(arguments: WebPushVectors.messages)
    func aMessageIsSealedToTheSameBytes(_ vector: WebPushVectors.Message) throws {
        let bytes = WebPushVectors.bytes
        let keys = try #require(WebPushKeys(publicKey: bytes(vector.agentPublic), secret: bytes(vector.secret)))
        let sender = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(vector.senderPrivate))
        let body = try keys.seal(Array(vector.plaintext.utf8), as: sender, salt: bytes(vector.salt))
        #expect(Base64URL.encode(body) == vector.body)
        #expect(body.count == vector.plaintext.utf8.count + WebPushKeys.overhead)
    }

    @Test(arguments: WebPushVectors.messages)
    func aMessageIsOpened(_ vector: WebPushVectors.Message) throws {
        let bytes = WebPushVectors.bytes
        let secret = try #require(
            WebPushSecret(privateKey: bytes(vector.agentPrivate), secret: bytes(vector.secret))
        )
        #expect(secret.keys?.publicKey == bytes(vector.agentPublic))
        #expect(try secret.open(bytes(vector.body)) == Array(vector.plaintext.utf8))
    }

    @Test func aBodyWithoutKeyAgreementIsOpened() throws {
        let key = SymmetricKey(data: WebPushVectors.bytes(WebPushVectors.walrusKey))
        let content = try EncryptedContent.open(WebPushVectors.bytes(WebPushVectors.walrus), key: key)
        #expect(String(decoding: content, as: UTF8.self) == "I am the walrus")
    }

    @Test func twoRecordsAreRefused() {
        let key = SymmetricKey(data: WebPushVectors.bytes(WebPushVectors.twoRecordsKey))
        #expect(throws: EncryptedContent.Fault.severalRecords) {
            try EncryptedContent.open(WebPushVectors.bytes(WebPushVectors.twoRecords), key: key)
        }
    }

    @Test func whatIsSealedIsOpenedByItsKeyOnly() throws {
        let (own, other) = (WebPushSecret(), WebPushSecret())
        let keys = try #require(own.keys)
        for length in [0, 1, 100, WebPushKeys.maximumContent] {
            let content = [UInt8](repeating: 7, count: length)
            let body = try keys.seal(content)
            #expect(body.count == length + WebPushKeys.overhead)
            #expect(try own.open(body) == content)
            #expect(throws: EncryptedContent.Fault.notAuthentic) { try other.open(body) }
        }
        #expect(try keys.seal([1]) != keys.seal([1]), "each message has a key and a salt of its own")
    }

    @Test(arguments: [0, 1, 4000]) func paddingIsRemoved(_ padding: Int) throws {
        let key = SymmetricKey(size: .bits128)
        let salt = [UInt8](repeating: 1, count: 16)
        for content in [[], [1, 2], [2, 0, 0]] as [[UInt8]] {
            let body = try EncryptedContent.seal(content, key: key, salt: salt, keyID: [], padding: padding)
            #expect(try EncryptedContent.open(body, key: key) == content)
        }
    }

    @Test func everyCutAndChangeIsRefused() throws {
        let secret = WebPushSecret()
        let body = try #require(secret.keys).seal(Array("a secret".utf8))
        for length in 0..<body.count {
            #expect(throws: EncryptedContent.Fault.self) { try secret.open(Array(body.prefix(length))) }
        }
        // The record size is no part of what is authenticated.
        for index in body.indices where !(16..<20).contains(index) {
            var changed = body
            changed[index] ^= 1
            #expect(throws: EncryptedContent.Fault.self) { try secret.open(changed) }
        }
    }

    @Test func theRecordSizeIsChecked() throws {
        let secret = WebPushSecret()
        let body = try #require(secret.keys).seal([1, 2, 3])
        func sized(_ size: UInt32) -> [UInt8] {
            Array(body.prefix(16)) + withUnsafeBytes(of: size.bigEndian, Array.init) + body.dropFirst(20)
        }
        #expect(throws: EncryptedContent.Fault.recordSize) { try secret.open(sized(17)) }
        #expect(throws: EncryptedContent.Fault.severalRecords) { try secret.open(sized(18)) }
        #expect(try secret.open(sized(20)) == [1, 2, 3])
        #expect(try secret.open(sized(.max)) == [1, 2, 3])
    }
}
