import PushSupport

/// The states of an app's environments as people read them.
enum EnvironmentStateText {
    /// Returns one line for each environment of an app.
    static func lines(_ app: JSONValue) -> [String] { app["environmentStates"].elements.map(Self.of) }

    /// Returns the line of one environment: its state, and what is wrong.
    static func of(_ environment: JSONValue) -> String {
        let name = environment["environment"].stringValue ?? ""
        return "\(name): \(Self.state(environment))".printable
    }

    /// Returns the environments that cannot be sent to, in one text; `nil` if there is none.
    static func faults(_ object: JSONValue) -> String? {
        let faulty = object["environmentStates"].elements.filter { $0["state"].stringValue != "running" }
        return faulty.isEmpty ? nil : faulty.map(Self.fault).joined(separator: "; ")
    }

    /// Returns what is wrong with an environment, without the times that change while it stays wrong.
    private static func fault(_ environment: JSONValue) -> String {
        let (name, state) = (environment["environment"].plainText, environment["state"].plainText)
        let text = "\(name) is \(state): \(environment["message"].plainText). \(environment["advice"].plainText)"
        return text.printable
    }

    private static func state(_ environment: JSONValue) -> String {
        let state = environment["state"].stringValue ?? "unknown"
        guard state != "running" else { return state }
        var text = "\(state) since \(environment["sinceMs"].timeText): \(environment["message"].plainText)."
        if let advice = environment["advice"].stringValue { text += " \(advice)" }
        if environment["nextTryMs"].integerValue != nil { text += " Next try \(environment["nextTryMs"].timeText)." }
        return text
    }
}
