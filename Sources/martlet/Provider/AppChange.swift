import ArgumentParser
import PushSupport

/// What can be changed about an app.
struct AppChange: ParsableArguments {
    @Option(help: "How lists call it.")
    var name: String?

    @Option(help: "Pushes per second of all its campaigns together.")
    var rate: Int?

    @Flag(help: "As fast as possible again.")
    var noRate = false

    func validate() throws {
        guard self.rate == nil || !self.noRate else { throw ValidationError("Give --rate or --no-rate, not both.") }
        guard self.name != nil || self.rate != nil || self.noRate else {
            throw ValidationError("Say what to change: --name, --rate or --no-rate.")
        }
    }

    /// The members of the request.
    var members: [String: JSONValue?] {
        [
            "name": self.name.map(JSONValue.string),
            "rate": self.noRate ? JSONValue.null : self.rate.map { .integer(Int64($0)) },
        ]
    }
}
