package import Foundation
package import PushTypes

/// A file of an app, complete and checked.
package struct FileRecord: Hashable, Sendable {
    /// The most files of an app, with its uploads that are not complete.
    package static let maximumOfApp = 100_000

    package var hash: ContentHash
    /// The size in bytes.
    package var size: Int
    package var contentType: String
    /// The name that the file had when it was uploaded.
    package var name: String
    package var createdAt: Timestamp
    /// The time since which nothing refers to the file; `nil` while something does.
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
    /// The most uploads of an app that are not complete.
    package static let maximumOfApp = 100

    package var id: UUID
    package var app: Int64
    /// The size and the hash that the file must have.
    package var size: Int
    package var hash: ContentHash
    package var contentType: String
    package var name: String
    /// The bytes that are on disk.
    package var received = 0
    package var createdAt: Timestamp
    /// The time of the last bytes.
    package var changedAt: Timestamp
    /// The time at which the file was complete and its hash right; `nil` before.
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
    /// The app has as many uploads as it may.
    case tooMany
    /// The app has as many files and uploads that are not complete as it may.
    case tooManyFiles
    /// The app's files and uploads have so many bytes already.
    case overQuota(used: Int)
    /// There is no such app any more.
    case noApp
}
