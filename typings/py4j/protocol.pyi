class Py4JError(Exception):
    cause: BaseException | None
