/// The limits on the schedules of one app.
package struct ScheduleLimits: Hashable, Sendable {
    /// The maximum number of schedules of an app. Default 1,000.
    package var count = 1000
    /// The maximum total size of the requests of an app's schedules, in bytes. Default 16 MB.
    package var bytes = 16 * 1024 * 1024

    package init() {}
}
