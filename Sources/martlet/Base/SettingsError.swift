/// An error whose description names the setting, the argument or the file to change.
struct SettingsError: StatusError {
    let description: String
    let status: ExitStatus

    init(_ description: String, status: ExitStatus = .failed) {
        (self.description, self.status) = (description, status)
    }
}
