import ArgumentParser
import PushSupport

/// A kind of record that an API keeps, such as apps or webhooks. Types that conform to the refinements of this protocol
/// describe a kind; ``ListResources``, ``ShowResource``, ``RemoveResource`` and ``PerformAction`` are the commands.
protocol Resource: SendableMetatype {
    /// The options by which commands reach the server; for resources of an app they name the app.
    associatedtype Access: APIAccess
    /// The part of the path that all of them have.
    static var path: String { get }
}

/// A resource with a command `list` that has no options of its own.
protocol ListableResource: Resource {
    /// The options of that command, where a list needs others than a single resource.
    associatedtype ListAccess: APIAccess = Access
    /// The columns of the table.
    static var columns: TextTable { get }
    /// Name and help of the command.
    static var list: CommandConfiguration { get }
}

/// A resource of which one is named by an id.
protocol IdentifiedResource: Resource {
    /// The type of an id.
    associatedtype ID: ResourceIdentifier = String
    /// Help and name of the id.
    static var id: ArgumentHelp { get }
}

/// A resource with a command `show`.
protocol ShowableResource: IdentifiedResource {
    /// Name and help of the command.
    static var show: CommandConfiguration { get }
    /// Returns what people see of one.
    static func details(_ response: JSONValue) -> String
}

extension ShowableResource where Self: ListableResource {
    static func details(_ response: JSONValue) -> String { self.columns.details(of: response) }
}

/// A resource with a command that removes one.
protocol RemovableResource: IdentifiedResource {
    /// Name and help of the command.
    static var remove: CommandConfiguration { get }
    /// Returns the message once one is removed.
    static func removed(_ id: ID) -> String
}

/// The id of one resource, as an argument.
struct ResourceID<Kind: IdentifiedResource>: ParsableArguments {
    @Argument(help: Kind.id) var id: Kind.ID

    /// Returns a request about this one.
    /// - Parameter parts: the further parts of the path.
    func request(_ method: APIRequest.Method, _ parts: String...) -> APIRequest {
        APIRequest(method, [Kind.path, self.id.pathPart] + parts)
    }
}

/// The command that lists the resources of a kind.
struct ListResources<Kind: ListableResource>: ListCommand {
    static var configuration: CommandConfiguration { Kind.list }
    static var columns: TextTable { Kind.columns }

    @OptionGroup var access: Kind.ListAccess

    var request: APIRequest { .get(Kind.path) }
}

/// A command about one resource, which prints the resource afterwards.
protocol ResourceCommand: RequestCommand {
    associatedtype Kind: ShowableResource
    var resource: ResourceID<Kind> { get }
}

extension ResourceCommand {
    func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that shows one resource.
struct ShowResource<Kind: ShowableResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.show }

    @OptionGroup var access: Kind.Access
    @OptionGroup var resource: ResourceID<Kind>

    var request: APIRequest { self.resource.request(.get) }
}

/// The command that removes one resource.
struct RemoveResource<Kind: RemovableResource>: RequestCommand {
    static var configuration: CommandConfiguration { Kind.remove }

    @OptionGroup var access: Kind.Access
    @OptionGroup var resource: ResourceID<Kind>

    var request: APIRequest { self.resource.request(.delete) }

    func text(of response: JSONValue) -> String { Kind.removed(self.resource.id) }
}

/// An action on one resource without options, such as `pause`. Its name in the path is the command's.
protocol ResourceAction: SendableMetatype {
    associatedtype Kind: IdentifiedResource
    /// Name and help of the command.
    static var configuration: CommandConfiguration { get }
    /// Returns what people see of the response.
    static func text(of response: JSONValue) -> String
}

extension ResourceAction where Kind: ShowableResource {
    static func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that performs an action on one resource.
struct PerformAction<Action: ResourceAction>: RequestCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @OptionGroup var access: Action.Kind.Access
    @OptionGroup var resource: ResourceID<Action.Kind>

    var request: APIRequest { self.resource.request(.post).action(Action.configuration.commandName ?? "") }

    func text(of response: JSONValue) -> String { Action.text(of: response) }
}
