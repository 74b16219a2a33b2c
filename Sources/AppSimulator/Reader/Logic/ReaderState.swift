package import Foundation
package import MartletKit
import PushTypes

/// The state that a reader keeps between two runs.
package struct ReaderState: Codable, Hashable, Sendable {
    /// The most issues of the library; the oldest ones that are not downloaded go first.
    package static let maximumIssues = 1000
    /// The number of pushes that are remembered, so that a repeated one is known.
    static let rememberedPushes = 100

    /// The app-specific id of the device, which the registration has.
    package let deviceID: UUID
    /// The issues, the newest first.
    package internal(set) var library: [LibraryIssue] = []
    /// The version of the catalogue that the library is of.
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

    /// Returns an issue of the library.
    package func issue(_ product: String) -> LibraryIssue? { self.library.first { $0.product == product } }
}

/// An issue in the library of a reader.
package struct LibraryIssue: Codable, Hashable, Sendable {
    /// The progress of an issue.
    package enum Status: String, Codable, Hashable, Sendable {
        /// It is in the catalogue.
        case listed
        case downloading, downloaded
        /// Its download was given up.
        case failed
    }

    /// The issue as the catalogue had it last.
    package internal(set) var issue: CatalogueIssue
    package internal(set) var status = Status.listed
    /// The bytes that have arrived.
    package internal(set) var received: Int64 = 0
    /// The file that is downloaded; `nil` before that.
    package internal(set) var file: PublishedFile?
    /// The grounds of the entitlement; `nil` as long as nobody asked.
    package internal(set) var entitledBy: String?
    /// The mark beside an issue that was downloaded and not opened: the blue dot.
    package internal(set) var isMarked = false
    /// Indicates that the cover of this hash is there.
    package internal(set) var coverSHA256: String?
    /// Indicates that the catalogue does not have it any more.
    package internal(set) var isWithdrawn = false

    init(_ issue: CatalogueIssue) { self.issue = issue }

    package var product: String { self.issue.product }
    /// The cover that is to be loaded; `nil` if it is there, or the issue has none.
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
    /// The failures in a row.
    var failures = 0
    /// The waits that the provider has asked for, together, in milliseconds; `nil` without any.
    var waitedMs: Int64?
    /// Indicates that the download of the day has begun with it.
    var hasBegun = false
    /// Indicates that the file had another hash once, and is downloaded from the beginning.
    var isSecondTry = false

    init(product: String) { self.product = product }
}
