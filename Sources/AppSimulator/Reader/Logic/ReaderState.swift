package import Foundation
package import MartletKit
import PushTypes

/// The state that a reader keeps between two runs.
package struct ReaderState: Codable, Hashable, Sendable {
    /// The maximum number of issues in the library. The oldest ones that are not downloaded are dropped first.
    package static let maximumIssues = 1000
    /// The maximum number of pushes that are remembered, so that a repeated one is recognized.
    static let rememberedPushes = 100

    /// The app-specific id of the device, which is in its registration.
    package let deviceID: UUID
    /// The issues, the newest first.
    package internal(set) var library: [LibraryIssue] = []
    /// The version of the catalogue from which the library was made.
    var entityTag: String?
    /// The time at which the last background download began, in milliseconds since 1970 by the wall clock.
    var lastDownloadMs: Int64?
    /// The ids of the last pushes, oldest first.
    var handled: [Int64] = []
    /// The issue that is being fetched.
    package internal(set) var work: ReaderWork?

    package init(deviceID: UUID) { self.deviceID = deviceID }

    /// The time at which the last background download began; `nil` before the first.
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
        /// It is in the catalogue.
        case listed
        case downloading, downloaded
        /// Its download was given up.
        case failed
    }

    /// The issue as it was in the last catalogue that had it.
    package internal(set) var issue: CatalogueIssue
    package internal(set) var status = Status.listed
    /// The number of bytes that have arrived.
    package internal(set) var received: Int64 = 0
    /// The file that is or was downloaded; `nil` before the provider has granted a download.
    package internal(set) var file: PublishedFile?
    /// The grounds of the entitlement; `nil` before the provider has decided.
    package internal(set) var entitledBy: String?
    /// The mark beside an issue that was downloaded and not opened: the blue dot.
    package internal(set) var isMarked = false
    /// The SHA-256 of the cover that was loaded; `nil` before that.
    package internal(set) var coverSHA256: String?
    /// Indicates that the catalogue does not have it any more.
    package internal(set) var isWithdrawn = false

    init(_ issue: CatalogueIssue) { self.issue = issue }

    package var product: String { self.issue.product }
    /// The cover that is still to be loaded; `nil` for none.
    var missingCover: PublishedFile? { self.issue.cover.flatMap { $0.sha256 == self.coverSHA256 ? nil : $0 } }
}

/// The work on one issue, from the push to its file.
package struct ReaderWork: Codable, Hashable, Sendable {
    /// A step of the work.
    package enum Step: String, Codable, Hashable, Sendable {
        case catalogue, entitlement, cover, grant, download
    }

    package let product: String
    package internal(set) var step = Step.catalogue
    /// The number of failures in a row.
    var failures = 0
    /// The total of the waits that the provider has asked for, in milliseconds; `nil` without any.
    var waitedMs: Int64?
    /// Indicates that the download has begun, and so counts for the interval between downloads.
    var hasBegun = false
    /// Indicates that a file with a wrong hash was removed, and is downloaded a second time.
    var isSecondTry = false

    init(product: String) { self.product = product }
}
