/// An event of a reader's work, which is printed, or counted for a fleet.
package enum ReaderEvent: Hashable, Sendable {
    /// The event that the catalogue was loaded. `isNew` is `false` if it has not changed.
    case catalogue(issues: Int, isNew: Bool)
    case entitled(product: String, by: String)
    case coverLoaded(product: String)
    /// The event that a download begins, or is resumed after `from` of the file's `of` bytes.
    case downloading(product: String, from: Int64, of: Int64)
    /// The event that the work is paused because the network is not Wi-Fi, or resumed on Wi-Fi.
    case paused(product: String), resumed(product: String)
    /// The event that a step has failed for `reason`, and will be repeated after `seconds`.
    case waiting(product: String, seconds: Int64, reason: String)
    /// The event that the file is complete, and the issue is marked as new.
    case downloaded(product: String, bytes: Int64)
    /// The event that the push for this product was ignored for the given reason.
    case skipped(product: String, IgnoredPushReason)
    /// The event that the work on the issue was abandoned after too many failures, or one that a retry cannot repair.
    case failed(product: String, reason: String)
    /// The event that the user has opened the issue, which is no longer marked as new.
    case opened(product: String)
    /// The event that an error has occurred, such as a state that could not be stored. The reader continues.
    case problem(String)
}

/// The reason why a reader ignores a push, or stops the work on its issue.
package enum IgnoredPushReason: Hashable, Sendable {
    /// The push is ignored because it arrived while the network was not Wi-Fi. It is lost.
    case notOnWiFi
    /// The push is ignored because the product is for development builds only, and this app is another build.
    case developmentOnly
    /// The push is ignored because a push with this id has arrived before.
    case repeated
    case alreadyDownloaded, underWay
    /// The push is ignored because too many other pushes were waiting when it arrived.
    case busy
    /// The push is ignored because the last download was less than a day ago. The next one may begin after this number
    /// of seconds.
    case onceADay(seconds: Int64)
    /// The issue is not downloaded because it was withdrawn and is no longer in the catalogue.
    case withdrawn
    /// The issue is not downloaded because the publication has a newer one.
    case notNewest
    case notEntitled(code: String)

    package var code: String {
        switch self {
        case .notOnWiFi: "not_on_wifi"
        case .developmentOnly: "development_only"
        case .repeated: "repeated"
        case .alreadyDownloaded: "already_downloaded"
        case .underWay: "under_way"
        case .busy: "busy"
        case .onceADay: "once_a_day"
        case .withdrawn: "withdrawn"
        case .notNewest: "not_newest"
        case .notEntitled: "not_entitled"
        }
    }

    package var text: String {
        switch self {
        case .notOnWiFi: "the network is not Wi-Fi, and the push is lost"
        case .developmentOnly: "it is for development builds"
        case .repeated: "the push arrived before"
        case .alreadyDownloaded: "the issue was downloaded already"
        case .underWay: "the issue is being fetched"
        case .busy: "too many pushes wait"
        case .onceADay(let seconds): "there was a download less than a day ago; the next may begin in \(seconds) s"
        case .withdrawn: "the catalogue does not have it"
        case .notNewest: "the publication has a newer issue"
        case .notEntitled(let code): "the reader is not entitled to it (\(code))"
        }
    }
}
