import ProviderAPI
import PushProvider

extension ServeSettings {
    /// The limits of uploads and downloads.
    enum Publishing: ConfigurationSection {
        /// 1 TiB, the most that one upload may be set to.
        private static let maximumFile = 1 << 40

        static let rows: [SettingRow<ProviderConfiguration>] = [
            .integer("serve.publishing.maximumFile", flag: "maximum-file", 1...maximumFile, \.publishing.maximumFile)
                .help("Bytes of the largest file that can be uploaded"),
            .integer("serve.publishing.quota", flag: "publishing-quota", 0...1 << 50, \.publishing.quota)
                .help("Bytes of all files of an app, 0 for no limit")
                .detail("Incomplete uploads count with their whole size. Beyond it uploads get 409 `quota_exceeded`."),
            .integer("serve.publishing.bandwidth", flag: "bandwidth", 0...1 << 40, \.publishing.bandwidth)
                .help("Bytes per second of all downloads together, 0 for no limit")
                .detail("Open downloads share it evenly. Other traffic of the provider does not count."),
            .integer("serve.publishing.downloads", flag: "downloads", 1...100_000, \.publishing.maximumDownloads)
                .help("Downloads at a time")
                .detail("Further ones get 503 with `retry-after`. It should be less than `serve.connections`."),
            .time(
                "serve.publishing.addressSeconds",
                flag: "address-seconds",
                60...604_800,
                \.publishing.addressLifetime
            )
            .help("Seconds within which a download may begin at its address"),
            .time("serve.publishing.unusedHours", flag: "unused-hours", 1...8760, unit: 3600, \.publishing.keepsUnused)
                .help("Hours for which uploads that are not continued, and files that no issue uses, are kept"),
        ]
    }
}
