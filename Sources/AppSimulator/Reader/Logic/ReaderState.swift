package import Foundation
package import MartletKit
import PushTypes

/// The state of a reader, which is stored so that the next run continues with it.
package struct ReaderState: Codable, Hashable, Sendable {
    /// The maximum number of issues in the library. The oldest ones that are not downloaded are dropped first.
    package static let maximumIssues = 1000
    /// The maximum number of remembered pushes, by which a repeated push is recognized. The oldest are forgotten.
    static let rememberedPushes = 100

    /// The id of the device for this app, which its registration contains.
    package let deviceID: UUID
    package internal(set) var library: [LibraryIssue] = []
    /// The entity tag of the catalogue from which the library was created, or `nil` before the first catalogue.
    var entityTag: String?
    /// The time at which the last background download began, in milliseconds since 1970 by the wall clock, or `nil`
    /// before the first.
    var lastDownloadMs: Int64?
    /// The ids of the last pushes, the oldest first, by which a repeated push is recognized.
    var handled: [Int64] = []
    /// The work on the issue that is being fetched, or `nil` if there is none.
    package internal(set) var work: ReaderWork?

    package init(deviceID: UUID) { self.deviceID = deviceID }

    /// ``lastDownloadMs`` as a point in time, or `nil` before the first background download.
    var lastDownload: Timestamp? {
        get { self.lastDownloadMs.map { Timestamp(milliseconds: $0) } }
        set { self.lastDownloadMs = newValue?.milliseconds }
    }

    package func issue(_ product: String) -> LibraryIssue? { self.library.first { $0.product == product } }
}

/// An issue in the library of a reader.
package struct LibraryIssue: Codable, Hashable, Sendable {
    /// The state of an issue in the library.
    package enum Status: String, Codable, Hashable, Sendable {
        /// The state of an issue whose download has not begun.
        case listed
        case downloading, downloaded
        /// The state of an issue whose download was abandoned.
        case failed
    }

    /// The entry of the issue in the last catalogue that contained it.
    package internal(set) var issue: CatalogueIssue
    package internal(set) var status = Status.listed
    /// The number of bytes of the issue's file that were received so far.
    package internal(set) var received: Int64 = 0
    /// The file of the issue that is or was downloaded, or `nil` before the provider has granted a download.
    package internal(set) var file: PublishedFile?
    /// The provider's grounds for the entitlement, such as `publisher`, or `nil` before the provider has confirmed the
    /// entitlement.
    package internal(set) var entitledBy: String?
    /// A Boolean value that indicates whether the issue was downloaded and not opened yet, which the library shows with
    /// a mark.
    package internal(set) var isMarked = false
    /// The SHA-256 of the loaded cover, or `nil` if none is loaded.
    package internal(set) var coverSHA256: String?
    /// A Boolean value that indicates whether the catalogue no longer contains the issue.
    package internal(set) var isWithdrawn = false

    init(_ issue: CatalogueIssue) { self.issue = issue }

    package var product: String { self.issue.product }
    /// The cover of the issue if it is not loaded yet, or `nil` if it is loaded or there is none.
    var missingCover: PublishedFile? { self.issue.cover.flatMap { $0.sha256 == self.coverSHA256 ? nil : $0 } }
}

/// The work on one issue, from the push to the downloaded file.
package struct ReaderWork: Codable, Hashable, Sendable {
    /// A step of the work on an issue, in the order of execution.
    package enum Step: String, Codable, Hashable, Sendable {
        case catalogue, entitlement, cover, grant, download
    }

    package let product: String
    package internal(set) var step = Step.catalogue
    /// The number of consecutive failures, which determines the delay before the next attempt.
    var failures = 0
    /// The total of the delays that the provider has requested for this issue, in milliseconds, or `nil` if none was.
    var waitedMs: Int64?
    /// A Boolean value that indicates whether the first byte of the file has arrived, which starts the interval until
    /// the next download.
    var hasBegun = false
    /// A Boolean value that indicates whether a file with a wrong hash was removed and is being downloaded again.
    var isSecondTry = false
}
