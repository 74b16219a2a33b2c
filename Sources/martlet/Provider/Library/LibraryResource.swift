import ArgumentParser
import PushSupport

/// A kind of named item of an app that has versions: audiences or templates.
protocol LibraryResource: AppResource, ListableResource, ShowableResource, RemovableResource where ID == String {
    /// The columns that show the contents of an item.
    static var contents: TextTable { get }
    static var versions: CommandConfiguration { get }
    static var restore: CommandConfiguration { get }
}

extension LibraryResource {
    static var columns: TextTable {
        ["name", "description", "version", .time("changed", "changedAtMs"), .init("by", "changedBy.name"), "id"]
    }

    static func details(_ response: JSONValue) -> String {
        PreviewText.warn(response)
        return (self.columns + [.time("created", "createdAtMs")] + self.contents).details(of: response)
    }
}

/// The options with which an item is saved under a name.
struct SaveOptions: ParsableArguments {
    @Option(help: "What it is for; '' removes the description.") var description: String?
    @Option(help: "The new name.") var rename: String?
    @Option(help: "Only if it still has this version; 0: only if it is new.") var version: Int64?

    var members: [String: JSONValue?] {
        [
            "description": self.description?.json, "name": self.rename?.json,
            "version": self.version.map { .integer($0) },
        ]
    }
}

/// The command that lists the versions of an item, the newest first.
struct ShowVersions<Kind: LibraryResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.versions }

    @OptionGroup var resource: ResourceOptions<Kind>

    func request() -> APIRequest { self.resource.request(.get, "versions") }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = ["version", .time("at", "atMs"), .init("by", "by.name"), "name", "description"]
        return (columns + [.init("restored from", "restoredFrom")] + Kind.contents).text(
            of: response["versions"].elements
        )
    }
}

/// The command that restores an earlier version of an item as its newest one.
struct RestoreVersion<Kind: LibraryResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.restore }

    @OptionGroup var resource: ResourceOptions<Kind>
    @Option(help: "The version whose contents to restore.") var toVersion: Int64

    func request() -> APIRequest {
        self.resource.request(.post).action("restore").body(["version": .integer(self.toVersion)])
    }
}
