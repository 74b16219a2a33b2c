public import ArgumentParser
import Foundation
import PushSupport
public import PushTypes

/// A kind of record that an API keeps, such as apps or webhooks. A type that conforms to refinements of this protocol
/// describes a kind; ``ListResources``, ``ShowResource``, ``RemoveResource`` and ``PerformAction`` are its commands.
protocol Resource: SendableMetatype {
    /// The options by which commands reach the server. For resources of an app they name the app too.
    associatedtype Access: APIAccess
    /// The component of the path that all records of the kind have.
    static var path: String { get }
}

/// A resource with a command `list`.
protocol ListableResource: Resource {
    /// The options by which that command reaches the server, if they differ from those of a single resource.
    associatedtype ListAccess: APIAccess = Access
    /// The options that select entries.
    associatedtype Filter: ListFilter = NoFilter
    static var columns: TextTable { get }
    /// Name and help of the command.
    static var list: CommandConfiguration { get }
}

/// The options that choose the entries of a list.
protocol ListFilter: ParsableArguments {
    /// The items of the query.
    var query: [(String, String?)] { get }
    /// The maximum number of entries that are shown; `nil` for all.
    var maximum: Int? { get }
}

/// A filter without options, for lists of everything.
struct NoFilter: ListFilter {
    var query: [(String, String?)] { [] }
    var maximum: Int? { nil }
}

/// A resource whose records have ids.
protocol IdentifiedResource: Resource {
    /// The type of an id.
    associatedtype ID: PathArgument = String
    /// Help and name of the id.
    static var id: ArgumentHelp { get }
}

/// A resource with a command `show`.
protocol ShowableResource: IdentifiedResource {
    /// Name and help of the command.
    static var show: CommandConfiguration { get }
    /// Returns the text of a record for people.
    static func details(_ response: JSONValue) -> String
}

extension ShowableResource where Self: ListableResource {
    static func details(_ response: JSONValue) -> String { self.columns.details(of: response) }
}

/// A resource with a command `remove`.
protocol RemovableResource: IdentifiedResource {
    /// Name and help of the command.
    static var remove: CommandConfiguration { get }
    /// Returns the message after the removal of a record.
    static func removed(_ id: ID) -> String
}

/// The options of every command for one record: the server, and the id as an argument.
struct ResourceOptions<Kind: IdentifiedResource>: APIAccess {
    @OptionGroup var access: Kind.Access
    @Argument(help: Kind.id) var id: Kind.ID

    var json: Bool { self.access.json }

    func connection() async throws -> APIConnection { try await self.access.connection() }

    /// Returns a request for this record.
    /// - Parameter parts: The further components of the path.
    func request(_ method: APIRequest.Method, _ parts: String...) -> APIRequest {
        APIRequest(method, [Kind.path, self.id.pathPart] + parts)
    }
}

/// The command that lists the resources of a kind.
struct ListResources<Kind: ListableResource>: ListCommand {
    static var configuration: CommandConfiguration { Kind.list }
    static var columns: TextTable { Kind.columns }

    @OptionGroup var access: Kind.ListAccess
    @OptionGroup var filter: Kind.Filter

    var limit: Int? { self.filter.maximum }

    func request() -> APIRequest { .get(Kind.path).query(self.filter.query) }
}

/// A command for one record. By default it prints the record afterwards.
protocol ResourceCommand: RequestCommand {
    associatedtype Kind: IdentifiedResource
    var resource: ResourceOptions<Kind> { get }
}

extension ResourceCommand {
    var access: ResourceOptions<Kind> { self.resource }
}

extension ResourceCommand where Kind: ShowableResource {
    func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that shows one resource.
struct ShowResource<Kind: ShowableResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.show }

    @OptionGroup var resource: ResourceOptions<Kind>

    func request() -> APIRequest { self.resource.request(.get) }
}

/// The command that removes one resource.
struct RemoveResource<Kind: RemovableResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.remove }

    @OptionGroup var resource: ResourceOptions<Kind>

    func request() -> APIRequest { self.resource.request(.delete) }

    func text(of response: JSONValue) -> String { "\(Kind.removed(self.resource.id))\(response.underWay)" }
}

/// An action on one record without options, such as `pause`. Its name in the path is the command's.
protocol ResourceAction: SendableMetatype {
    associatedtype Kind: IdentifiedResource
    /// Name and help of the command.
    static var configuration: CommandConfiguration { get }
    /// Returns the text of the response for people.
    static func text(of response: JSONValue) -> String
}

extension ResourceAction where Kind: ShowableResource {
    static func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that performs an action on one resource.
struct PerformAction<Action: ResourceAction>: ResourceCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @OptionGroup var resource: ResourceOptions<Action.Kind>

    func request() -> APIRequest { self.resource.request(.post).action(Action.configuration.commandName ?? "") }

    func text(of response: JSONValue) -> String { Action.text(of: response) }
}

/// An argument that is a part of a path.
protocol PathArgument: ExpressibleByArgument, Sendable {
    /// The text in the path.
    var pathPart: String { get }
}

extension String: PathArgument {
    var pathPart: String { self }
}

extension PushEnvironment: ExpressibleByArgument, PathArgument {
    var pathPart: String { self.rawValue }
}

extension DeviceTokenKind: ExpressibleByArgument {}

extension DeviceToken: ExpressibleByArgument, PathArgument {
    /// Reads a token in hexadecimal or base64.
    public init?(argument: String) { self.init(userInput: argument) }

    var pathPart: String { self.hex }
}

extension ChannelID: ExpressibleByArgument {
    /// Reads an id in base64.
    public init?(argument: String) { self.init(argument) }
}

/// A resource with a command that erases a record and all data about it.
protocol ErasableResource: IdentifiedResource where ID == String {
    /// Name and help of the command.
    static var erase: CommandConfiguration { get }
    /// The data that will be lost, for the confirmation.
    static var loss: String { get }
}

/// The command that erases a record, after its name was typed again or with `--yes`.
struct EraseResource<Kind: ErasableResource>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Kind.erase }

    /// The time between two requests that ask for the progress of the erasure.
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
                // The erasure was finished between two requests.
                response = ["state": "erased"]
            }
        }
        try self.resource.print(response) { _ in
            "\(id) is erased; the provider overwrites the database file within an hour, and backups stay as they are"
        }
    }
}
