import ProviderModel

/// The limits on uploads and downloads.
package struct PublishingSettings: Hashable, Sendable {
    /// The maximum size of a file, in bytes. A larger one is refused. Default 4 GiB.
    package var maximumFile = 4 * 1024 * 1024 * 1024
    /// The maximum number of bytes of an app's files and incomplete uploads, or 0 for no limit. Default 100 GiB.
    package var quota = 100 * 1024 * 1024 * 1024
    /// The maximum number of an app's files and incomplete uploads. Further uploads are refused. Default 100,000.
    package var maximumFiles = FileRecord.maximumOfApp
    /// The maximum number of concurrent downloads. Further ones are refused. Default 500.
    package var maximumDownloads = 500
    /// The maximum number of bytes per second of all downloads together, or 0 for no limit. Default 0.
    package var bandwidth = 0
    /// The time for which uploads that are not continued, and files that no issue uses, are kept. Default 1 day.
    package var keepsUnused: Duration = .seconds(86_400)
    /// The lifetime of a signed URL: the time within which a download may begin. Default 1 h.
    package var addressLifetime: Duration = .seconds(3600)

    package init() {}
}
