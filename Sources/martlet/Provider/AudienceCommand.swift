import ArgumentParser
import PushSupport

struct AudienceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience",
        abstract: "Whom a condition would reach.",
        discussion: "Example: martlet audience count --app com.example.MyApp --tag beta --locale de",
        subcommands: [Count.self, Preview.self]
    )

    struct Count: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count the active devices that it holds for.",
            discussion: """
                Example: martlet audience count --app com.example.MyApp --query '{"or":[{"tag":"a"},{"tag":"b"}]}'
                """
        )

        @OptionGroup var access: AppAccess
        @OptionGroup var audience: AudienceForm

        func run() async throws {
            try await self.access.show(.post, ["audience"], action: "count", body: try self.audience.members) {
                CellText.of($0["count"])
            }
        }
    }

    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count them, and list some, inactive ones too.",
            discussion: "Example: martlet audience preview --app com.example.MyApp --attribute plan=gold --limit 5"
        )

        @OptionGroup var access: AppAccess
        @OptionGroup var audience: AudienceForm

        @Option(help: "So many devices are shown at most, up to 1000.")
        var limit: Int = 10

        func run() async throws {
            let body = try self.audience.members.merging(["limit": .integer(Int64(self.limit))]) { $1 }
            try await self.access.show(.post, ["audience"], action: "preview", body: body) { answer in
                let devices = answer["devices"].elements
                let head = "\(CellText.of(answer["count"])) active"
                return devices.isEmpty ? head : "\(head)\n\n\(TextTable(DeviceColumns.short, devices).text)"
            }
        }
    }
}
