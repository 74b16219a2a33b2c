import ArgumentParser
import Foundation
import PushSupport

/// A resource that a command erases with all that is kept of it.
protocol ErasableResource: IdentifiedResource where ID == String {
    /// Name and help of the command.
    static var erase: CommandConfiguration { get }
    /// The records that will be lost, for the question.
    static var loss: String { get }
}

/// The command that erases a resource, once its name was typed again or `--yes` given.
struct EraseResource<Kind: ErasableResource>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Kind.erase }

    /// The time between two questions whether everything is gone.
    private static var pause: Duration { .seconds(1) }

    @OptionGroup var resource: ResourceOptions<Kind>
    @Flag(help: "Do not ask.") var yes = false

    mutating func run() async throws {
        let (id, connection) = (self.resource.id, try await self.resource.connection())
        if !self.yes {
            StandardError.line("This erases \(id): \(Kind.loss). Type it again to go on, or give --yes:")
            guard readLine() == id else { throw SettingsError("nothing was erased: another name was typed") }
        }
        var response = try await connection.send(self.resource.request(.delete))
        while response["state"] == "erasing" {
            try await Task.sleep(for: Self.pause, clock: .continuous)
            do {
                response = try await connection.send(self.resource.request(.delete))
            } catch let error as APIErrorResponse where error.status == 404 {
                // The last part went between two requests.
                response = ["state": "erased"]
            }
        }
        try self.resource.print(response) { _ in
            "\(id) is erased; the provider overwrites the database file within an hour, and backups stay as they are"
        }
    }
}
