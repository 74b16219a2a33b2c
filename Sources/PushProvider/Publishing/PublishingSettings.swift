import PushStore

/// The limits of uploads and downloads.
package struct PublishingSettings: Hashable, Sendable {
    /// The longest file, in bytes. Default 4 GiB.
    package var maximumFile = 4 * 1024 * 1024 * 1024
    /// The most bytes of the files of an app, with its uploads that are not complete; 0 for no limit. Default 100 GiB.
    package var quota = 100 * 1024 * 1024 * 1024
    /// The most files of an app, with its uploads that are not complete. Default 100,000.
    package var maximumFiles = FileRecord.maximumOfApp
    /// The most downloads at a time. Default 500.
    package var maximumDownloads = 500
    /// The most bytes per second of all downloads together; 0 for no limit. Default 0.
    package var bandwidth = 0
    /// The time for which uploads that are not continued, and files that nothing refers to, are kept. Default 1 day.
    package var keepsUnused: Duration = .seconds(86_400)
    /// The time within which a download may begin at its address. Default 1 h.
    package var addressLifetime: Duration = .seconds(3600)

    package init() {}
}
