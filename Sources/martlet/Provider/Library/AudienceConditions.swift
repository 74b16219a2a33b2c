import ArgumentParser
import Foundation
import PushSupport

/// The options that describe an audience, either as JSON or as conditions that must all be met.
struct AudienceConditions: ParsableArguments {
    @Option(help: "The audience as JSON.") var query: String?
    @Option(help: "A file with the audience as JSON; '-' is standard input.") var file: String?
    @Flag(help: "All devices of the app.") var all = false
    @Option(help: "Devices of one of these users; repeat it for several.") var user: [String] = []
    @Option(help: "Devices with this tag; repeat it if they must have several.") var tag: [String] = []
    @Option(help: "NAME=VALUE: devices with this attribute; repeat it if several must match.")
    var attribute: [AttributeValue] = []
    @Option(help: "Devices with this locale, such as de, which includes de-AT.") var locale: String?
    @Option(help: "Devices with at least this app version.") var atLeastVersion: String?
    @Option(help: "Devices below this app version.") var belowVersion: String?
    @Option(help: "Devices in this time zone, such as Europe/Berlin.") var timeZone: String?
    @Option(help: "Devices with a token of this Live Activity, by the app's id for it.") var activity: String?
    @Option(help: "Devices that registered within this number of days.") var seenWithinDays: Int?
    @Option(help: "Devices in this named audience.") var named: String?

    /// The conditions that the options describe, each as a JSON object.
    private var conditions: [JSONValue] {
        var conditions: [JSONValue] = []
        func add(_ name: String, _ value: JSONValue?) { if let value { conditions.append([name: value]) } }
        if self.user.count > 1 {
            add("users", .texts(self.user))
        } else {
            add("user", self.user.first?.json)
        }
        for tag in self.tag { add("tag", tag.json) }
        for attribute in self.attribute {
            conditions.append(["attribute": attribute.name.json, "is": attribute.value])
        }
        add("named", self.named?.json)
        add("activity", self.activity?.json)
        add("locale", self.locale?.json)
        let versions = ["atLeast": self.atLeastVersion?.json, "below": self.belowVersion?.json].compactMapValues { $0 }
        add("appVersion", versions.isEmpty ? nil : .object(versions))
        add("timeZone", self.timeZone?.json)
        add("lastSeen", self.seenWithinDays.map { ["withinDays": $0.json] })
        return conditions
    }

    /// Returns the audience as JSON.
    /// - Throws: A validation error unless exactly one of `--query`, `--file`, `--all` and conditions specifies it.
    func audience() throws -> JSONValue {
        let conditions = self.conditions
        let given = [self.query != nil, self.file != nil, self.all, !conditions.isEmpty]
        guard given.count(where: { $0 }) == 1 else {
            throw ValidationError("Name the audience: --query, --file, --all, or conditions such as --tag.")
        }
        if let query { return .object(try InputFile.object(Data(query.utf8), named: "--query")) }
        if let file { return .object(try InputFile.object(file)) }
        if self.all { return ["all": true] }
        if let only = conditions.first, conditions.count == 1 { return only }
        return ["and": .array(conditions)]
    }
}
