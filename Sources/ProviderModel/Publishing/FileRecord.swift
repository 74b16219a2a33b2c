package import Crypto
package import Foundation
package import PushTypes

/// A complete file of an app, whose hash has been verified.
package struct FileRecord: Hashable, Sendable {
    /// The maximum number of files of an app, including its incomplete uploads. A further upload is rejected.
    package static let maximumOfApp = 100_000

    package var hash: ContentHash
    /// The size of the file, in bytes.
    package var size: Int
    package var contentType: String
    /// The name that the file had when it was uploaded.
    package var name: String
    package var createdAt: Timestamp
    /// The time at which the file became unused, some time after which it is deleted, or `nil` while an issue uses it.
    package var unusedSince: Timestamp?

    package init(hash: ContentHash, size: Int, contentType: String, name: String, createdAt: Timestamp) {
        (self.hash, self.size, self.contentType) = (hash, size, contentType)
        (self.name, self.createdAt) = (name, createdAt)
    }
}

/// A file that an issue of an app uses.
package struct UsedFile: Hashable, Sendable {
    package let app: Int64
    package let file: FileRecord

    package init(app: Int64, file: FileRecord) { (self.app, self.file) = (app, file) }
}

/// The file of a cover, with the media type of its content.
package struct CoverFile: Hashable, Sendable {
    package let hash: ContentHash
    package let contentType: String

    package init(hash: ContentHash, contentType: String) { (self.hash, self.contentType) = (hash, contentType) }
}

/// An upload of a file, which may be interrupted and continued.
package struct UploadRecord: Hashable, Sendable {
    /// The maximum number of incomplete uploads of an app. A further one is rejected.
    package static let maximumOfApp = 100

    package var id: UUID
    package var app: Int64
    /// The size in bytes and the hash that the complete file must have. Otherwise the upload fails.
    package var size: Int
    package var hash: ContentHash
    package var contentType: String
    package var name: String
    /// The number of bytes that have arrived and are on disk.
    package var received = 0
    package var createdAt: Timestamp
    /// The time at which the last bytes arrived.
    package var changedAt: Timestamp
    /// The time at which the file was complete and its hash verified, or `nil` until then.
    package var completedAt: Timestamp?

    package init(
        id: UUID,
        app: Int64,
        size: Int,
        hash: ContentHash,
        contentType: String,
        name: String,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.size, self.hash) = (id, app, size, hash)
        (self.contentType, self.name) = (contentType, name)
        (self.createdAt, self.changedAt) = (createdAt, createdAt)
    }
}

/// The result of adding an upload.
package enum UploadAdditionResult: Hashable, Sendable {
    case added
    /// A refusal because the app has reached the maximum number of incomplete uploads.
    case tooMany
    /// A refusal because the app has reached the maximum number of files.
    case tooManyFiles
    /// A refusal because the app would exceed its quota. `used` is the size of its files and uploads, in bytes.
    case overQuota(used: Int)
    /// A refusal because the app does not exist any more.
    case noApp
}

/// The SHA-256 of a file's content, by which the file is named.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    /// The length of a hash in bytes.
    package static let length = 32

    package let bytes: [UInt8]

    /// Creates a hash from 32 bytes, or returns `nil` for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    package init(_ digest: SHA256.Digest) { self.bytes = Array(digest) }

    /// Reads 64 hexadecimal digits of either case, or returns `nil` for any other text.
    package init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 2 * Self.length else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The hash as 64 lowercase hexadecimal digits.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: self.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    package var description: String { self.hex }
}
