/// The figures of an app's downloads, or of all.
package struct DownloadFigures: Hashable, Sendable {
    /// The downloads that are open.
    package var open: Int
    /// The bytes per second over the last ten seconds.
    package var bytesPerSecond: Int

    package init(open: Int, bytesPerSecond: Int) { (self.open, self.bytesPerSecond) = (open, bytesPerSecond) }
}
