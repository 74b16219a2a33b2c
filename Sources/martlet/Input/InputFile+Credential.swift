import PushSender

extension InputFile {
    /// Returns the credential in a file.
    /// - Parameters:
    ///   - passphrase: The passphrase of an archive or an encrypted key; `nil` for none.
    ///   - teamID: The team of a `.p8` key.
    ///   - keyID: The id of a `.p8` key; `nil` takes it from the file's name.
    ///   - keyFile: The file of the private key, if `path` has the certificate only.
    /// - Throws: ``SettingsError`` that names the file.
    static func credential(
        _ path: String,
        passphrase: String?,
        teamID: String?,
        keyID: String?,
        keyFile: String?
    ) throws -> PushCredential {
        do {
            return try PushCredential.load(
                file: path,
                passphrase: passphrase,
                teamID: teamID,
                keyID: keyID,
                keyFile: keyFile
            )
        } catch {
            throw SettingsError(error, of: path)
        }
    }
}

extension SettingsError {
    /// Names the file of a credential, unless the error does.
    init(_ error: CredentialError, of path: String) {
        switch error {
        case .unreadableFile, .fileTooLarge: self.init("\(error)")
        case .badTeamID: self.init("\(path): \(error) (--team-id)", status: .usage)
        case .badKeyID: self.init("\(path): \(error) (--key-id)", status: .usage)
        default: self.init("\(path): \(error)")
        }
    }
}
