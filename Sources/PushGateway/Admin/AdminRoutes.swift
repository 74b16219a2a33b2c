import Hummingbird

/// A part of the admin door: some paths below `/v1`.
protocol AdminRoutes: Sendable {
    func addRoutes(to group: RouterGroup<AdminContext>)
}
