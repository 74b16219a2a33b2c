package import Foundation
package import ProviderModel
package import PushTypes

/// The publications of apps, their issues, and the catalogue.
package protocol PublishingStore: Sendable {
    /// Adds a publication to an app, unless the app has ``PublicationRecord/maximumOfApp``.
    func addPublication(_ publication: PublicationRecord) async throws -> PublicationAdditionResult
    /// Returns the publications of an app by name.
    func publications(app: Int64) async throws -> [PublicationRecord]
    func publication(_ id: UUID) async throws -> PublicationRecord?
    /// Changes a publication in one transaction.
    /// - Returns: The publication after the change; `nil` if there is none with this id.
    func changePublication(_ id: UUID, _ changes: PublicationChanges) async throws -> PublicationRecord?
    /// Removes a publication without issues.
    func deletePublication(_ id: UUID) async throws -> PublicationDeletionResult

    /// Adds a draft to its publication.
    func addIssue(_ issue: IssueRecord) async throws -> IssueChangeResult
    /// Returns the issues of a publication in an order.
    /// - Parameter state: The state of the issues; `nil` for any.
    func issues(
        publication: UUID,
        state: IssueState?,
        order: IssueOrder,
        after: IssueCursor?,
        limit: Int
    ) async throws -> [IssueRecord]
    func issue(_ id: UUID) async throws -> IssueRecord?
    func issue(app: Int64, productID: String) async throws -> IssueRecord?
    /// Returns the issues of an app that have these product ids, in no particular order.
    func issues(app: Int64, productIDs: Set<String>) async throws -> [IssueRecord]
    /// Changes an issue in one transaction.
    func changeIssue(_ id: UUID, _ changes: IssueChanges, now: Timestamp) async throws -> IssueChangeResult
    /// Removes an issue that is not published.
    func deleteIssue(_ id: UUID, now: Timestamp) async throws -> IssueDeletionResult
    /// Sets or removes the file of an issue for a screen size.
    func setRendition(_ size: ScreenSize, of issue: UUID, to file: ContentHash?, now: Timestamp) async throws
        -> IssueChangeResult
    /// Sets or removes the cover of an issue. The file gets the media type of its content.
    func setCover(of issue: UUID, to file: CoverFile?, now: Timestamp) async throws -> IssueChangeResult

    /// Returns a number that is different after each change of an app's catalogue.
    func catalogueVersion(app: Int64) async throws -> Int64
    /// Returns published issues of an app, the newest first.
    /// - Parameter account: The publisher's account; with it, publications of that account are included.
    func catalogue(app: Int64, account: String?, after: IssueCursor?, limit: Int) async throws -> [IssueRecord]
}

/// The files of publications, and incomplete uploads.
package protocol FileStore: Sendable {
    /// Adds an upload, unless its app has ``UploadRecord/maximumOfApp`` incomplete ones.
    ///
    /// An upload of a file that the app already has counts neither towards the quota nor as another file.
    /// - Parameters:
    ///   - quota: The maximum size of the app's files and incomplete uploads together, in bytes; `nil` for no limit.
    ///   - files: The maximum number of the app's files and incomplete uploads.
    func addUpload(_ upload: UploadRecord, quota: Int?, files: Int) async throws -> UploadAdditionResult
    func upload(_ id: UUID) async throws -> UploadRecord?
    /// Records the number of bytes of an upload that are on disk.
    /// - Returns: `false` if there is no such upload.
    func noteUpload(_ id: UUID, received: Int, now: Timestamp) async throws -> Bool
    /// Completes an upload, and adds its file to the app.
    /// - Returns: `nil` if there is no such upload.
    func completeUpload(_ id: UUID, now: Timestamp) async throws -> FileRecord?
    /// Removes an upload. The file of a complete upload stays.
    /// - Returns: `false` if there is no such upload.
    func deleteUpload(_ id: UUID) async throws -> Bool
    /// Returns the incomplete uploads of an app, those that received bytes most recently first.
    func openUploads(app: Int64) async throws -> [UploadRecord]
    /// Returns the ids of all uploads.
    func uploads() async throws -> Set<UUID>
    /// Returns the size of an app's files and incomplete uploads together, in bytes.
    func storedBytes(app: Int64) async throws -> Int
    /// Removes the uploads whose last bytes arrived before a time.
    /// - Returns: The number of removed uploads.
    func forgetUploads(before: Timestamp, limit: Int) async throws -> Int

    func file(_ hash: ContentHash, app: Int64) async throws -> FileRecord?
    /// Returns the files of an app in the order of their hashes.
    func files(app: Int64, after: ContentHash?, limit: Int) async throws -> [FileRecord]
    /// Returns `true` if any app has a file with this content.
    func hasFile(_ hash: ContentHash) async throws -> Bool
    /// Returns the files that issues use and whose hashes begin with a byte.
    func usedFiles(beginning byte: UInt8) async throws -> [UsedFile]
    /// Returns those hashes of files that begin with a byte.
    func fileHashes(beginning byte: UInt8) async throws -> Set<ContentHash>
    /// Removes the files that have been unused since before a time.
    /// - Returns: The number of removed files.
    func forgetFiles(unusedSince: Timestamp, limit: Int) async throws -> Int
    /// Returns a file if a published issue uses it as a rendition or cover; otherwise `nil`.
    func downloadable(_ hash: ContentHash, issue: UUID) async throws -> UsedFile?
    /// Returns the key that signs the addresses of files. The first call creates it.
    func addressKey() async throws -> String
}

/// The publishers' servers that decide about entitlement, at most one per app.
package protocol EntitlementServerStore: Sendable {
    /// Returns the server of an app; `nil` if it has none.
    /// - Throws: An error also for a row whose secret cannot be opened.
    func entitlementServer(app: Int64) async throws -> EntitlementServerRecord?
    /// Sets the server of an app.
    /// - Parameter keepsSecret: `true` keeps the secret of the existing server, if it can be opened.
    /// - Returns: The server as it is stored.
    func setEntitlementServer(
        _ server: EntitlementServerRecord,
        keepsSecret: Bool
    ) async throws -> EntitlementServerRecord
    /// Removes the server of an app.
    /// - Returns: `false` if the app has no server.
    func removeEntitlementServer(app: Int64) async throws -> Bool
}
