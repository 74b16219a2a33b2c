package import MartletKit
import PushSupport
package import PushTypes

/// An action that ``ReaderStateMachine`` requests, and that ``ReaderApp`` performs.
package enum ReaderAction: Hashable, Sendable {
    /// Load the catalogue, unless it still has this entity tag. For `nil`, load it in any case.
    case loadCatalogue(ifChangedFrom: String?)
    /// Request the provider's decision about the reader's entitlement to the product.
    case checkEntitlement(product: String)
    case loadCover(product: String, PublishedFile)
    /// Request the signed URL of the issue's file.
    case requestGrant(product: String)
    /// Download the file, or resume its download.
    case download(product: String, PublishedFile)
    /// Cancel the running step, whose result is then ignored.
    case stop
    case removePart(PublishedFile)
    /// Call ``ReaderStateMachine/timeReached(_:)`` at this time of the steady clock.
    case wake(at: Timestamp)
    case save
    case report(ReaderEvent)
}

/// The kind of network that a reader's device has.
package enum ReaderNetwork: String, Hashable, Sendable, CaseIterable {
    case wifi, cellular
    case none
}

/// A push that announces an issue.
package struct IssuePush: Hashable, Sendable {
    package var product: String
    /// The id of the push, a time in milliseconds, or `nil` if it has none. A repeated push is recognized by it.
    package var id: Int64?

    package init(product: String, id: Int64? = nil) { (self.product, self.id) = (product, id) }

    /// Parses the issue that a push announces. Returns `nil` if it does not wake the app or names no product, in either
    /// spelling of the member (APNs reference 10.1).
    package init?(_ content: PushContent) {
        guard content.wakesApp else { return nil }
        let names = ["productId", "productID"]
        guard let product = names.lazy.compactMap({ content.payload[$0]?.stringValue }).first,
            (1...256).contains(product.utf8.count)
        else { return nil }
        self.init(product: product, id: content.payload["Id"]?.integerValue)
    }
}

/// The rules by which a reader decides about downloads and retries.
package struct ReaderRules: Hashable, Sendable {
    /// The prefix of the product ids that only development builds of the app may fetch.
    package static let developmentPrefix = "dev_test."

    /// The minimum time between two background downloads. Default 24 h.
    package var interval: Duration = .seconds(24 * 3600)
    /// The time by which the interval between two background downloads may be shorter than ``interval``. Default 1 h.
    package var tolerance: Duration = .seconds(3600)
    /// A Boolean value that indicates whether the app is a development build, which may fetch development products.
    /// Default false.
    package var isDevelopment = false
    /// The maximum number of consecutive failures in the work on an issue. After one more, the issue is abandoned.
    /// Default 8.
    package var maximumFailures = 8
    /// The delay after the first failure, which doubles with each further failure. Default 2 s.
    package var firstWait: Duration = .seconds(2)
    /// The maximum delay after a failure, unless the provider requests a longer one. Default 5 min.
    package var longestWait: Duration = .seconds(300)
    /// The maximum total of the delays that the provider may request for one issue. Further requested delays count as
    /// failures. Default 24 h.
    package var maximumRequestedWait: Duration = .seconds(24 * 3600)

    package init() {}

    /// Returns whether this build of the app may fetch the product. Development products require a development build.
    func allows(_ product: String) -> Bool { self.isDevelopment || !product.hasPrefix(Self.developmentPrefix) }
}
