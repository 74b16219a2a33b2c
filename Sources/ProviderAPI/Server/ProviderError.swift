/// An error that prevents a provider server from running.
package enum ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(address: String, why: String)
    case dataDirectoryInUse(String)
    case cannotWriteAdminKey(path: String, why: String)
    /// The replacement of this database by a backup was interrupted.
    case restoreInterrupted(String)
    /// The server ended before it was open.
    case ended

    package var description: String {
        switch self {
        case .cannotListen(let address, let why):
            "the provider cannot listen on \(address) (serve.host and serve.port): \(why)"
        case .dataDirectoryInUse(let path): "another provider is using the data directory \(path)"
        case .cannotWriteAdminKey(let path, let why): "the first admin key cannot be written to \(path): \(why)"
        case .restoreInterrupted(let path):
            """
            a restore of \(path) was interrupted: run martlet restore again, with --replace; the old database is kept \
            beside it
            """
        case .ended: "the provider ended before it was open"
        }
    }
}
