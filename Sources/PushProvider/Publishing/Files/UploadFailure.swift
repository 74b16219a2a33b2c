/// The reason for which bytes of an upload were not taken.
package enum UploadFailure: Error, Hashable, Sendable {
    /// There is no such upload, or it was removed meanwhile.
    case missing
    /// Another request is sending bytes of the upload.
    case busy
    /// The next byte has this position.
    case wrongOffset(Int)
    /// The file has another hash. The upload begins again.
    case wrongHash
    /// The disk is full; the text says how much room there is.
    case full(String)
    /// The disk cannot be written.
    case unwritable
}
