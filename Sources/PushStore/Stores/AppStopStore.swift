/// The apps that are stopped.
package protocol AppStopStore: Sendable {
    /// Stops an app: from then on nothing of it can be claimed or begun.
    /// - Returns: The present stop, which is an earlier one if the app was stopped already.
    func stop(_ stop: AppStop) async throws -> AppStop
    /// Lets an app send again.
    /// - Returns: `true` if it was stopped.
    func resumeApp(_ app: Int64) async throws -> Bool
    /// Returns the stop of an app; `nil` if it is not stopped.
    func stop(of app: Int64) async throws -> AppStop?
    /// Returns the stops of all apps.
    func stops() async throws -> [AppStop]
}
