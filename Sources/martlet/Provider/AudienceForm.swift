import ArgumentParser
import Foundation
import PushSupport
import PushTypes

/// A condition on devices: as JSON, or as flags that must all hold.
struct AudienceForm: ParsableArguments {
    @Option(help: "The condition as JSON.")
    var query: String?

    @Option(help: "A file with the condition as JSON; '-' is standard input.")
    var file: String?

    @Flag(help: "All devices of the app.")
    var all = false

    @Option(help: "Of one of these users; repeat it for several.")
    var user: [String] = []

    @Option(help: "With this tag; repeat it where several must be there.")
    var tag: [String] = []

    @Option(help: "NAME=VALUE: with this attribute; repeat it where several must fit.")
    var attribute: [AttributeValue] = []

    @Option(help: "With this locale, such as de, which de-AT is too.")
    var locale: String?

    @Option(help: "Of at least this app version.")
    var atLeastVersion: String?

    @Option(help: "Below this app version.")
    var belowVersion: String?

    @Option(help: "In this time zone, such as Europe/Berlin.")
    var timeZone: String?

    @Option(help: "Registered within so many days.")
    var seenWithinDays: Int?

    @Option(help: "sandbox or production. Default: both.")
    var environment: PushEnvironment?

    /// The members of the request.
    var members: [String: JSONValue?] {
        get throws {
            ["audience": try self.condition, "environment": self.environment.map { .string($0.rawValue) }]
        }
    }

    /// What the flags say, each condition an object of its own.
    private var flags: [JSONValue] {
        var conditions: [JSONValue] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { conditions.append(.object([name: value])) }
        }
        if self.user.count > 1 {
            add("users", .array(self.user.map(JSONValue.string)))
        } else {
            add("user", self.user.first.map(JSONValue.string))
        }
        for tag in self.tag { add("tag", .string(tag)) }
        for attribute in self.attribute {
            conditions.append(.object(["attribute": .string(attribute.name), "is": attribute.value]))
        }
        add("locale", self.locale.map(JSONValue.string))
        let versions = [("atLeast", self.atLeastVersion), ("below", self.belowVersion)]
        let bounds = versions.compactMap { name, value in value.map { (name, JSONValue.string($0)) } }
        add("appVersion", bounds.isEmpty ? nil : .object(Dictionary(bounds) { $1 }))
        add("timeZone", self.timeZone.map(JSONValue.string))
        add("lastSeen", self.seenWithinDays.map { .object(["withinDays": .integer(Int64($0))]) })
        return conditions
    }

    private var condition: JSONValue {
        get throws {
            let flags = self.flags
            let given = [self.query != nil, self.file != nil, self.all, !flags.isEmpty]
            guard given.count(where: { $0 }) == 1 else {
                throw ValidationError("Say whom: --query, --file, --all, or flags such as --tag.")
            }
            if let query { return .object(try RequestFile.object(Data(query.utf8), named: "--query")) }
            if let file { return .object(try RequestFile.object(file)) }
            if self.all { return .object(["all": .bool(true)]) }
            if let only = flags.first, flags.count == 1 { return only }
            return .object(["and": .array(flags)])
        }
    }
}

/// JSON objects that are written by hand.
enum RequestFile {
    /// - Parameter path: `-` is standard input.
    static func object(_ path: String) throws -> [String: JSONValue] {
        let data: Data
        do {
            data =
                path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SettingsError("\(path) cannot be read: \(ErrorDescription.of(error))")
        }
        return try self.object(data, named: path == "-" ? "standard input" : path)
    }

    /// - Parameter name: where the text comes from.
    static func object(_ data: Data, named name: String) throws -> [String: JSONValue] {
        do {
            guard case .object(let members) = try JSONValue(parsing: data) else {
                throw SettingsError("\(name): it must be a JSON object")
            }
            return members
        } catch let refusal as RequestError {
            throw SettingsError("\(name): \(refusal.message)")
        }
    }
}
