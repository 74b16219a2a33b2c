import Foundation

/// The settings in environment variables.
struct SettingsEnvironment {
    /// The variables that the build, its scripts and packaging/compose.yml read.
    private static let ofTheBuild: Set<String> = [
        "MARTLET_COMMIT", "MARTLET_IMAGE", "MARTLET_SHARED_BUILD", "MARTLET_VERSION",
    ]

    /// The values by the variable of this version.
    private(set) var values: [String: String] = [:]
    /// One text for each variable that no setting has.
    private(set) var errors: [String] = []
    /// One text for each former name.
    private(set) var warnings: [String] = []

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment, names: SettingNames = .all) {
        for (variable, value) in variables.sorted(by: { $0.key < $1.key }) {
            guard variable.hasPrefix(Setting.variablePrefix), !Self.ofTheBuild.contains(variable) else { continue }
            guard let setting = names.byVariable[variable] else {
                guard !Self.isServiceLink(variable, value) else { continue }
                let nearest = names.nearestVariable(to: variable).map { ": did you mean \($0)?" } ?? ""
                self.errors.append("there is no setting for the environment variable \(variable)\(nearest)")
                continue
            }
            let name = setting.environmentVariable
            if variable != name {
                self.warnings.append("the environment variable \(variable) is now \(name)")
                // The name of this version wins over the former one.
                guard variables[name] == nil else { continue }
            }
            self.values[name] = value
        }
    }

    /// Indicates whether Kubernetes or Docker has set a variable for a service named `martlet…` beside this one.
    private static func isServiceLink(_ variable: String, _ value: String) -> Bool {
        if variable.hasSuffix("_SERVICE_HOST") || variable.contains("_SERVICE_PORT") { return true }
        if variable.contains(#/_PORT_[0-9]+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?$/#) { return true }
        return variable.hasSuffix("_PORT") && value.contains("://")
    }
}
