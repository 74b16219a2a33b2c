import Crypto
import Foundation
import PushProtocol

/// Makes and opens device tokens and base tokens: AES-GCM over what they stand for, so that a token needs no look-up and
/// tells nobody else anything.
///
/// Layout: key id (1) ‖ nonce (12) ‖ sealed (kind, environment, generation, device id, topic hash, padding) ‖ tag (16).
/// The nonce is an HMAC of the plain text, so that asking twice gives the same token and no nonce ever serves two
/// different texts. Zero to fifteen bytes of padding, also from the HMAC, make the lengths vary, as Apple's do
/// (reference 1.7). Tokens have 71 to 86 bytes, base tokens 46 to 61: never 20, which is a topic hash's length.
struct TokenMint: Sendable {
    /// What a device token stands for.
    struct Claims: Hashable, Sendable {
        var device: UUID
        var topic: TopicHash
        var environment: PushEnvironment
        /// Rises when the token is reissued.
        var generation: UInt32
    }

    static let keyLength = 32
    private static let keyID: UInt8 = 1
    private static let headerLength = 1 + 12
    private static let tagLength = 16

    private enum Kind: UInt8 {
        case base = 0
        case app = 1
    }

    private let sealingKey: SymmetricKey
    private let nonceKey: SymmetricKey

    /// - Parameter key: 32 random bytes, kept for as long as tokens are to be valid.
    init(key: [UInt8]) {
        let root = SymmetricKey(data: key)
        self.sealingKey = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: root,
            info: Data("martlet token seal".utf8),
            outputByteCount: 32
        )
        self.nonceKey = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: root,
            info: Data("martlet token nonce".utf8),
            outputByteCount: 32
        )
    }

    func deviceToken(_ claims: Claims) throws -> DeviceToken? {
        let generation = withUnsafeBytes(of: claims.generation.bigEndian, Array.init)
        let text = [Kind.app.rawValue, Self.byte(claims.environment)] + generation + Self.bytes(claims.device)
        return DeviceToken(bytes: try self.seal(text + claims.topic.bytes))
    }

    func baseToken(for device: UUID) throws -> [UInt8] {
        try self.seal([Kind.base.rawValue] + Self.bytes(device))
    }

    /// What `token` stands for, or `nil` if this key did not make it.
    func open(_ token: DeviceToken) -> Claims? {
        guard let text = self.open(token.bytes), text.count >= 42, text[0] == Kind.app.rawValue,
            let environment = Self.environment(text[1]),
            let device = Self.uuid(text[6..<22]),
            let topic = TopicHash(bytes: text[22..<42])
        else { return nil }
        let generation = text[2..<6].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Claims(device: device, topic: topic, environment: environment, generation: generation)
    }

    /// The device that `baseToken` names, or `nil` if this key did not make it.
    func openBase(_ baseToken: [UInt8]) -> UUID? {
        guard let text = self.open(baseToken), text.count >= 17, text[0] == Kind.base.rawValue else { return nil }
        return Self.uuid(text[1..<17])
    }

    private func seal(_ text: [UInt8]) throws -> [UInt8] {
        let mac = Array(HMAC<SHA256>.authenticationCode(for: text, using: self.nonceKey))
        let padded = text + [UInt8](repeating: 0, count: Int(mac[12] & 15))
        let nonce = try AES.GCM.Nonce(data: mac.prefix(12))
        let box = try AES.GCM.seal(padded, using: self.sealingKey, nonce: nonce, authenticating: [Self.keyID])
        return [Self.keyID] + mac.prefix(12) + Array(box.ciphertext) + Array(box.tag)
    }

    private func open(_ token: [UInt8]) -> [UInt8]? {
        guard token.count > Self.headerLength + Self.tagLength, token[0] == Self.keyID,
            let nonce = try? AES.GCM.Nonce(data: token[1..<Self.headerLength]),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: token[Self.headerLength..<(token.count - Self.tagLength)],
                tag: token.suffix(Self.tagLength)
            ),
            let text = try? AES.GCM.open(box, using: self.sealingKey, authenticating: [Self.keyID])
        else { return nil }
        return Array(text)
    }

    private static func byte(_ environment: PushEnvironment) -> UInt8 {
        switch environment {
        case .sandbox: 1
        case .production: 2
        }
    }

    private static func environment(_ byte: UInt8) -> PushEnvironment? {
        PushEnvironment.allCases.first { Self.byte($0) == byte }
    }

    private static func bytes(_ uuid: UUID) -> [UInt8] {
        withUnsafeBytes(of: uuid.uuid, Array.init)
    }

    private static func uuid(_ bytes: ArraySlice<UInt8>) -> UUID? {
        guard bytes.count == 16 else { return nil }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        return UUID(uuid: uuid)
    }
}
