package import Crypto
import Foundation

/// The content coding `aes128gcm` with a single record (RFC 8188), as Web Push uses it (RFC 8291 section 4).
///
/// A body is salt (16 bytes), record size (4), length of the key id (1), key id, and the record with its tag (16).
package enum EncryptedContent {
    /// The lengths of the salt, of the tag and of the header before the key id, in bytes.
    static let (saltLength, tagLength, fixedHeader) = (16, 16, 21)
    /// The record size that is written. A body with one record has 4,096 bytes at most.
    static let recordSize: UInt32 = 4096
    /// The last octet of a record's content before its padding, where no other record follows.
    private static let lastDelimiter: UInt8 = 2

    /// The reason for which a body cannot be decrypted.
    package enum Fault: Error, Hashable, Sendable {
        /// The body ends within the header or has no record.
        case truncated
        /// The record size allows no content.
        case recordSize
        /// The body has more than one record, which Web Push does not allow.
        case severalRecords
        /// The key id is not a public key of 65 bytes.
        case keyID
        /// It was encrypted for another key or has been changed.
        case notAuthentic
        /// The padding does not begin with the delimiter of a last record.
        case padding
    }

    /// The header of a body.
    package struct Header: Hashable, Sendable {
        package let salt: [UInt8]
        package let recordSize: UInt32
        package let keyID: [UInt8]
        /// The record: content, delimiter and padding, encrypted, and the tag.
        package let record: [UInt8]

        /// Reads the header of a body, and takes the rest as its record.
        package init(_ body: [UInt8]) throws(Fault) {
            guard body.count >= EncryptedContent.fixedHeader else { throw .truncated }
            let keyLength = Int(body[EncryptedContent.fixedHeader - 1])
            let rest = body.dropFirst(EncryptedContent.fixedHeader)
            // One octet of content at least: the delimiter.
            guard rest.count > keyLength + EncryptedContent.tagLength else { throw .truncated }
            self.salt = Array(body.prefix(EncryptedContent.saltLength))
            self.recordSize = body.dropFirst(EncryptedContent.saltLength).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
            self.keyID = Array(rest.prefix(keyLength))
            self.record = Array(rest.dropFirst(keyLength))
            guard self.recordSize >= 18 else { throw .recordSize }
            guard self.record.count <= Int(self.recordSize) else { throw .severalRecords }
        }
    }

    /// Returns the content of a body.
    /// - Parameter key: The input keying material (RFC 8188 section 2.2).
    package static func open(_ body: [UInt8], key: SymmetricKey) throws(Fault) -> [UInt8] {
        try Self.open(Header(body), key: key)
    }

    static func open(_ header: Header, key: SymmetricKey) throws(Fault) -> [UInt8] {
        let keys = Self.keys(key, salt: header.salt)
        let (content, tag) = (header.record.dropLast(Self.tagLength), header.record.suffix(Self.tagLength))
        guard let nonce = try? AES.GCM.Nonce(data: keys.nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: content, tag: tag),
            let padded = try? AES.GCM.open(box, using: keys.contentKey)
        else { throw .notAuthentic }
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == Self.lastDelimiter else { throw .padding }
        return Array(padded[..<end])
    }

    /// Returns the body of a content.
    /// - Parameter padding: The number of zeros after the delimiter.
    static func seal(
        _ content: [UInt8],
        key: SymmetricKey,
        salt: [UInt8],
        keyID: [UInt8],
        padding: Int = 0
    ) throws -> [UInt8] {
        let keys = Self.keys(key, salt: salt)
        let nonce = try AES.GCM.Nonce(data: keys.nonce)
        let padded = content + [Self.lastDelimiter] + [UInt8](repeating: 0, count: padding)
        let box = try AES.GCM.seal(padded, using: keys.contentKey, nonce: nonce)
        let size = withUnsafeBytes(of: Self.recordSize.bigEndian, Array.init)
        return salt + size + [UInt8(truncatingIfNeeded: keyID.count)] + keyID + box.ciphertext + box.tag
    }

    /// Derives the key and the nonce of the only record (RFC 8188 sections 2.2 and 2.3).
    private static func keys(_ key: SymmetricKey, salt: [UInt8]) -> (contentKey: SymmetricKey, nonce: [UInt8]) {
        func derive(_ info: String, _ length: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key,
                salt: salt,
                info: Array("Content-Encoding: \(info)\0".utf8),
                outputByteCount: length
            )
        }
        return (derive("aes128gcm", 16), derive("nonce", 12).withUnsafeBytes { Array($0) })
    }
}
