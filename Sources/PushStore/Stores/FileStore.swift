package import Foundation
package import PushTypes

/// The files that were uploaded for publications, and the uploads that are not complete.
package protocol FileStore: Sendable {
    /// Adds an upload to its app, unless it has ``UploadRecord/maximumOfApp`` that are not complete.
    ///
    /// A file that the app has already takes nothing of the quota, and is none more.
    /// - Parameters:
    ///   - quota: The maximum bytes of the app's files and uploads that are not complete; `nil` for no limit.
    ///   - files: The maximum number of them.
    func addUpload(_ upload: UploadRecord, quota: Int?, files: Int) async throws -> UploadAdditionResult
    func upload(_ id: UUID) async throws -> UploadRecord?
    /// Notes that the first bytes of an upload are on disk.
    /// - Returns: `false` if there is no such upload.
    func noteUpload(_ id: UUID, received: Int, now: Timestamp) async throws -> Bool
    /// Notes that the file of an upload is complete, and adds it to its app.
    /// - Returns: `nil` if there is no such upload.
    func completeUpload(_ id: UUID, now: Timestamp) async throws -> FileRecord?
    /// Removes an upload; a file that is complete stays.
    /// - Returns: `false` if there is none.
    func deleteUpload(_ id: UUID) async throws -> Bool
    /// Returns the uploads of an app that are not complete, the one with the latest bytes first.
    func openUploads(app: Int64) async throws -> [UploadRecord]
    /// Returns the ids of uploads.
    func uploads() async throws -> Set<UUID>
    /// Returns the bytes of an app's files and of its uploads that are not complete.
    func storedBytes(app: Int64) async throws -> Int
    /// Removes the uploads whose last bytes came before a time.
    /// - Returns: Their number.
    func forgetUploads(before: Timestamp, limit: Int) async throws -> Int

    func file(_ hash: ContentHash, app: Int64) async throws -> FileRecord?
    /// Returns the files of an app in the order of their hashes.
    func files(app: Int64, after: ContentHash?, limit: Int) async throws -> [FileRecord]
    /// Returns `true` if any app has a file with this content.
    func hasFile(_ hash: ContentHash) async throws -> Bool
    /// Returns the files that issues use whose hashes begin with a byte.
    func usedFiles(beginning byte: UInt8) async throws -> [UsedFile]
    /// Returns the hashes of all files that begin with a byte.
    func fileHashes(beginning byte: UInt8) async throws -> Set<ContentHash>
    /// Removes the files that nothing has referred to since a time.
    /// - Returns: Their number.
    func forgetFiles(unusedSince: Timestamp, limit: Int) async throws -> Int
    /// Returns a file that a published issue uses as a rendition or its cover; `nil` if it does not.
    func downloadable(_ hash: ContentHash, issue: UUID) async throws -> UsedFile?
    /// Returns the key that signs the addresses of files, which the first call makes.
    func addressKey() async throws -> String
}

extension FileStore {
    /// Adds an upload to its app, which has ``FileRecord/maximumOfApp`` files at most.
    package func addUpload(_ upload: UploadRecord, quota: Int?) async throws -> UploadAdditionResult {
        try await self.addUpload(upload, quota: quota, files: FileRecord.maximumOfApp)
    }
}
