package import MartletKit
import PushSupport
package import PushTypes

/// An action that ``ReaderStateMachine`` asks for.
package enum ReaderAction: Hashable, Sendable {
    /// Load the catalogue, unless it still has this version.
    case loadCatalogue(ifChangedFrom: String?)
    /// Ask whether the reader is entitled to the product.
    case checkEntitlement(product: String)
    case loadCover(product: String, PublishedFile)
    /// Ask for the address of the issue's file.
    case requestGrant(product: String)
    /// Download the file, or resume its download.
    case download(product: String, PublishedFile)
    /// Cancel the step that is under way. Its result does not count.
    case stop
    /// Remove the part of a file that has arrived.
    case removePart(PublishedFile)
    /// Call ``ReaderStateMachine/timeReached(_:)`` at a time of the steady clock.
    case wake(at: Timestamp)
    /// Keep the state for the next run.
    case save
    case report(ReaderEvent)
}

/// The network of a reader.
package enum ReaderNetwork: String, Hashable, Sendable, CaseIterable {
    case wifi, cellular
    /// No network.
    case none
}

/// A push that announces an issue.
package struct IssuePush: Hashable, Sendable {
    /// The product id.
    package var product: String
    /// The time tag of the message, in milliseconds; `nil` without one.
    package var id: Int64?

    package init(product: String, id: Int64? = nil) { (self.product, self.id) = (product, id) }

    /// Reads the payload of a push; `nil` for one that names no issue. Its member has two spellings (reference 10.1).
    package init?(_ content: PushContent) {
        guard content.wakesApp else { return nil }
        let names = ["productId", "productID"]
        guard let product = names.lazy.compactMap({ content.payload[$0]?.stringValue }).first,
            (1...256).contains(product.utf8.count)
        else { return nil }
        self.init(product: product, id: content.payload["Id"]?.integerValue)
    }
}

/// The settings of a reader's decisions.
package struct ReaderRules: Hashable, Sendable {
    /// The prefix of the product ids that are for development builds only.
    package static let developmentPrefix = "dev_test."

    /// The shortest time between two background downloads. Default 24 h.
    package var interval: Duration = .seconds(24 * 3600)
    /// The time by which the interval may be shorter. Default 1 h.
    package var tolerance: Duration = .seconds(3600)
    /// Indicates a development build of the app. Default false.
    package var isDevelopment = false
    /// The maximum number of failures in a row. After one more the issue is given up. Default 8.
    package var maximumFailures = 8
    /// The wait after the first failure, which doubles with each further one. Default 2 s.
    package var firstWait: Duration = .seconds(2)
    /// The longest wait after a failure, unless the provider asks for a longer one. Default 5 min.
    package var longestWait: Duration = .seconds(300)
    /// The longest total time for which an issue waits because the provider asks for it. Further such waits count as failures.
    /// Default 24 h.
    package var maximumRequestedWait: Duration = .seconds(24 * 3600)

    package init() {}

    /// Indicates whether the product is for this build.
    func allows(_ product: String) -> Bool { self.isDevelopment || !product.hasPrefix(Self.developmentPrefix) }
}
